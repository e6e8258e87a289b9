"""The frame around the encoder–decoder of sessions 2 and 3: data, alphabets, optimizer, loss, training, answers.

Tensors are time first: S timesteps of the encoder, T of the decoder, B sequences, V characters of an alphabet.
"""

import math

import torch
from torch import nn

from autograder.runtime.rich_output import table

from .arithmetic import encode, one_hot
from .training import live

__all__ = ["Calculator"]


class Calculator(nn.Module):
    """All of a model from strings to strings but its forward pass and its two parts; a subclass gives both.

    `forward(encoder_input, decoder_input=None, teacher_enforce=True, inference=False)` takes (S, B, V_enc) and
    (T, B, V_dec), one-hot, and returns log-probabilities (T, B, V_dec). `parts(hidden_size)` returns the encoder and
    the decoder; when it is called, the alphabets are there.
    """

    # whether questions and answers are written backwards, so that `evaluate` can turn them
    input_reversed, answer_reversed = True, False

    def __init__(self, X, y, hidden_size=256, learning_rate=0.01, attention=False, device=None):
        """`X`, `y`: lists of strings, questions and answers. Their last quarter is held out for validation."""
        super().__init__()
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.attention = attention
        self.attention_weights = None  # (T, B, S) after a call with attention
        self.GO, self.EOS = "=", "\n"

        encoder_alphabet = sorted(set("".join(X)))
        decoder_alphabet = sorted(set("".join(y)) | {self.GO, self.EOS})  # EOS sorts first: it is number 0
        self.encoder_char_index = {c: i for i, c in enumerate(encoder_alphabet)}
        self.encoder_index_char = dict(enumerate(encoder_alphabet))
        self.decoder_char_index = {c: i for i, c in enumerate(decoder_alphabet)}
        self.decoder_index_char = dict(enumerate(decoder_alphabet))
        self.encoder_vocabulary_size = len(encoder_alphabet)
        self.decoder_vocabulary_size = len(decoder_alphabet)
        self.max_encoder_sequence_length = max(map(len, X))
        self.max_decoder_sequence_length = max(map(len, y)) + 2  # GO and EOS

        kept = len(X) - len(X) // 4
        self.X_val, self.y_val = list(X[kept:]), list(y[kept:])
        self.encoder_input_tr, self.decoder_input_tr, self.target_tr = self.encode(X[:kept], y[:kept])
        self.encoder_input_val, self.decoder_input_val, self.target_val = self.encode(X[kept:], y[kept:])

        self.encoder, self.decoder = self.parts(hidden_size)
        self.to(self.device)
        self.optimizer = torch.optim.Adam(self.parameters(), lr=learning_rate)
        self.criterion = nn.NLLLoss()

    def encode(self, X, y):
        """Strings → encoder_input (S, B, V_enc), decoder_input and target (T, B, V_dec), one-hot."""
        def tensor(strings, char_index, length):
            return one_hot(encode(strings, "".join(char_index), length).to(self.device), len(char_index))

        T = self.max_decoder_sequence_length
        return (tensor(X, self.encoder_char_index, self.max_encoder_sequence_length),
                tensor([self.GO + text + self.EOS for text in y], self.decoder_char_index, T),
                tensor([text + self.EOS for text in y], self.decoder_char_index, T))

    def loss(self, output, target):
        """Mean negative log-probability of the right characters; `output` and `target` (T, B, V)."""
        return self.criterion(output.flatten(0, 1), target.argmax(-1).flatten())

    def fit(self, nb_epoch, batch_size, teacher_enforce=True):
        """Train for `nb_epoch` epochs on the training data; each quarter of one the validation loss is measured."""
        n = self.encoder_input_tr.shape[1]
        batches = math.ceil(n / batch_size)
        view = live(steps=nb_epoch * batches, title="teacher forcing" if teacher_enforce else "free running")
        for step in view:
            if step % batches == 0:
                order = torch.randperm(n, device=self.device)
            chosen = order[step % batches * batch_size:][:batch_size]
            output = self(self.encoder_input_tr[:, chosen], self.decoder_input_tr[:, chosen], teacher_enforce)
            loss = self.loss(output, self.target_tr[:, chosen])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            view.log(loss=loss.detach())
            if (step + 1) % batches in {(quarter * batches) // 4 for quarter in range(4)}:
                view.log(val_loss=self.validation_loss())
        view.plot()
        return view

    def validation_loss(self, nb=2000):
        """The loss on `nb` held-out samples, teacher-forced."""
        with torch.no_grad():
            return self.loss(self(self.encoder_input_val[:, :nb], self.decoder_input_val[:, :nb]),
                             self.target_val[:, :nb])

    def answer(self, X):
        """What the model writes for each question, free running and cut at EOS: a list of strings."""
        encoder_input, decoder_input, _ = self.encode(X, [""] * len(X))
        with torch.no_grad():
            ids = self(encoder_input, decoder_input, teacher_enforce=False).argmax(-1)
        lines = ["".join(self.decoder_index_char[i] for i in column) for column in ids.T.tolist()]
        return [line.split(self.EOS)[0] for line in lines]

    def evaluate(self, nb=10):
        """Show question, prediction and truth of `nb` held-out samples, each as a person would write it."""
        asked, truth = self.X_val[:nb], self.y_val[:nb]
        order = {False: slice(None), True: slice(None, None, -1)}
        asks, says = order[self.input_reversed], order[self.answer_reversed]
        table([[x[asks], written[says], right[says], "yes" if written == right else "no"]
               for x, written, right in zip(asked, self.answer(asked), truth, strict=True)],
              ["question", "prediction", "truth", "right"])
