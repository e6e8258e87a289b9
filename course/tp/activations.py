"""Hooks: read and replace what any part of a PyTorch model computes.

    with tp.trace(model) as seen:                       # read
        logits = model(source, target)
    seen["encoder.norm"].shape                          # the output of model.encoder.norm
    seen["decoder.blocks.0.cross.W_o:in"]               # the first input of that linear layer

    with tp.trace(model, {"encoder.embedding": vectors}):   # replace an output by a tensor …
        model(source, target)
    with tp.trace(model, {"encoder.norm": lambda x: 0 * x}):    # … or by a function of it
        model(source, target)

Names are those of `model.named_modules()`; `:in` behind a name is the first input. The interface follows those of
baukit (`TraceDict`), TransformerLens (`run_with_hooks`) and nnsight (`.input`, `.output`).
"""

from contextlib import contextmanager

__all__ = ["shapes", "trace"]


@contextmanager
def trace(model, patches=None):
    """Give a dictionary that fills with the activations of `model` while it runs inside `with`.

    It maps names to tensors, (…,). `patches` maps names to tensors of the same shape, or to functions that take the
    activation and return another; the dictionary then holds the activation after the patch. Tensors keep their place
    in the graph of the gradient. A module that runs twice leaves its last activation.

    Raises `KeyError` for a name that the model does not have, and `ValueError` for a patch of another shape.
    """
    patches, modules = dict(patches or {}), dict(model.named_modules())
    unknown = [name for name in patches if name.removesuffix(":in") not in modules]
    if unknown:
        raise KeyError(f"{unknown[0]} is not a part of this model; its parts are {', '.join(filter(None, modules))}")
    seen = {}

    def noted(name, tensor):
        if name in patches:
            patch = patches[name]
            new = patch(tensor) if callable(patch) else patch
            if new.shape != tensor.shape:
                raise ValueError(f"{name}: the patch has the shape {tuple(new.shape)}, not {tuple(tensor.shape)}")
            tensor = new
        seen[name] = tensor
        return tensor

    def hooks_of(name, module):
        def before(module, inputs):
            if inputs and hasattr(inputs[0], "shape"):
                return (noted(f"{name}:in", inputs[0]), *inputs[1:])

        def after(module, inputs, output):
            if hasattr(output, "shape"):
                return noted(name, output)
            if isinstance(output, tuple) and output and hasattr(output[0], "shape"):
                return (noted(name, output[0]), *output[1:])

        return module.register_forward_pre_hook(before), module.register_forward_hook(after)

    handles = [handle for name, module in modules.items() if name for handle in hooks_of(name, module)]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def shapes(seen):
    """Return the rows of a table: each name that `trace` saw, and its shape as text."""
    return [[name, "×".join(map(str, tensor.shape))] for name, tensor in seen.items()]
