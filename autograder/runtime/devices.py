"""Explain exceptions about tensors on two devices, which only occur where there is a GPU."""

import re

# torch says it in many ways, and names the device or its kind of tensors in each
_MIXED = re.compile(r"same device|device type \S+ but got|Expected a '\S+' device type|"
                    r"torch\.cuda\.\w+.*torch\.[A-Z]|torch\.[A-Z].*torch\.cuda\.\w+")
_INTO_NUMPY = re.compile(r"can't convert \S+ device type tensor to numpy")


def meaning(message: str) -> str | None:
    """Return the sentence for a student, where torch's message speaks of devices; None elsewhere."""
    if _INTO_NUMPY.search(message):
        return "It gives numpy a tensor that is not on the CPU. Stay in torch, or call `.cpu()` on the tensor first"
    if _MIXED.search(message):
        return ("It combines values on two devices, such as the CPU and the GPU. Make a new tensor beside the others, "
                "with `device=x.device` of a tensor `x` that you have")
    return None
