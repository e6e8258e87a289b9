"""Wrong versions that learners write in session 7, and right ones that look different."""

from autograder.model.faults import Fault, Variant

SHUFFLE = "random.Random(seed).shuffle(words)"
FIRST_WORDS = "test_words = set(words[:round(share * len(words))])"
ROW = "row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y)))"
NEAREST = '''nearest = [min((edit_distance(said, right), -len(right)) for right in listed)
               for said, listed in zip(found, references, strict=True)]'''
RATES = "return wrong / len(distances), sum(distances) / -sum(lengths)"
LOOKED_UP = "weights = table[rows, columns] * ((rows != PAD) & (columns != PAD))"
OVER_LETTERS = "weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)"
TOTAL = "total = counts.sum(-1, keepdim=True)"
NEW = "return torch.where(total > 0, counts / total.clamp(min=1e-30), table), weights"
REACH = "best, came_from = best.cummax(0)"
LAST = "path = [int(best.argmax())]"
BACK = "path.append(int(came_from[path[-1]]))"
READ = "for letter in letters:"
CHOSEN = 'last = int((h @ weights["fc_w"].T + weights["fc_b"]).argmax())'
STOP = '''        if last == end:
            break
        written.append(last)'''
SCORES = '''scores = torch.einsum("bsh,bh->bs", henc_ts, self.query(hdec))
        scores = scores / math.sqrt(hdec.shape[-1])'''
SOFTMAX = "attention_weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)"
CELL = "hdec = self.cell(torch.cat([embedded, context], dim=-1), hdec)"
BOTH = "both = self.dropout(torch.cat([hdec, context], dim=-1))"
COMBINED = "combined = self.dropout(torch.tanh(self.combine(both)))"
CANDIDATES = "candidates = scores[:, None] + logits.log_softmax(-1)"
FINAL = "float(score) / (len(written[row]) + 1) ** alpha"
REORDER = "        hdec = hdec[rows]\n"
SORTED = "return sorted(complete, key=lambda one: -one[1])"
MEAN = "torch.stack([state[name] for state in states]).mean(0)"

FAULTS = [
    # ------------------------------------------------------------ split
    Fault("split", "by-pair",
          "Your test set is drawn from the pairs, so a word with two pronunciations can be on both sides. Draw words.",
          source='''def split_by_word(pairs, share, seed):
    drawn = list(pairs)
    random.Random(seed).shuffle(drawn)
    n = round(share * len(drawn))
    return [pair for pair in pairs if pair in drawn[n:]], [pair for pair in pairs if pair in drawn[:n]]


def shared(train, test):
    known = {word for word, _ in train}
    return sum(word in known for word, _ in test) / len(test)
'''),
    Fault("split", "not-shuffled",
          "The test words are the first of the alphabet. Shuffle the words before you take them.",
          swap=(SHUFFLE, "")),
    Fault("split", "sides-exchanged",
          "Training and test have changed places: the share is that of the test words.",
          swap=[("if pair[0] not in test_words],", "if pair[0] in test_words],"),
                ("if pair[0] in test_words])", "if pair[0] not in test_words])")]),
    Fault("split", "share-of-pairs",
          "You take a share of the number of pairs. The share is one of the distinct words.",
          swap=("share * len(words)", "share * len(pairs)")),
    Fault("split", "shared-words-not-pairs",
          "You count distinct words. `shared` is a share of the pairs of the test.",
          swap=("return sum(word in known for word, _ in test) / len(test)",
                "unseen = {word for word, _ in test}\n    return len(unseen & known) / len(unseen)")),

    # ------------------------------------------------------------ edit-distance
    Fault("edit-distance", "place-by-place",
          "You compare the sequences place by place. One item more in front moves all others, and is one insertion.",
          source='''def edit_distance(a, b):
    return sum(x != y for x, y in zip(a, b)) + abs(len(a) - len(b))
'''),
    Fault("edit-distance", "no-replacement",
          "A replacement costs two in your table: it is one edit, not a deletion and an insertion.",
          swap=("(x != y)))", "2 * (x != y)))")),
    Fault("edit-distance", "no-insertion",
          "The entry to the left is missing from the minimum: an item of the second sequence can be inserted.",
          swap=(ROW, "row.append(min(above[j] + 1, above[j - 1] + (x != y)))")),
    Fault("edit-distance", "first-column-zero",
          "The first entry of each row is 0 in your table. From i items to nothing takes i deletions.",
          swap=("row, [i]", "row, [0]")),
    Fault("edit-distance", "sets",
          "You compare which items occur. Their order and number count, too.",
          source='''def edit_distance(a, b):
    return max(len(set(a) - set(b)), len(set(b) - set(a)))
'''),

    # ------------------------------------------------------------ error-rates
    Fault("error-rates", "first-reference-only",
          "Only the first reference counts in your rates. Any of the listed pronunciations is a right answer.",
          swap=("for right in listed)", "for right in listed[:1])")),
    Fault("error-rates", "mean-of-quotients",
          "You take the mean of each word's own rate. PER is one sum divided by another.",
          swap=("sum(distances) / -sum(lengths)",
                "sum(d / -n for d, n in zip(distances, lengths)) / len(distances)")),
    Fault("error-rates", "length-of-the-answer",
          "You divide by the lengths of what was found. PER is divided by the lengths of the references.",
          swap=("sum(distances) / -sum(lengths)", "sum(distances) / sum(map(len, found))")),
    Fault("error-rates", "shortest-of-equals",
          "Of two references at the same distance you take the shorter one. The longer one counts.",
          swap=[("-len(right)) for", "len(right)) for"), ("/ -sum(lengths)", "/ sum(lengths)")]),
    Fault("error-rates", "percent",
          "These are percentages. Both rates are shares.",
          swap=(RATES, "return 100 * wrong / len(distances), 100 * sum(distances) / -sum(lengths)")),
    Fault("error-rates", "right-not-wrong",
          "Your first result is the share of right words. WER is the share of wrong ones.",
          swap=("sum(d > 0", "sum(d == 0")),

    # ------------------------------------------------------------ em
    Fault("em", "normalised-over-sounds",
          "Your weights sum to 1 over the sounds. Each sound is distributed over the letters of its word.",
          swap=(OVER_LETTERS, "weights = weights / weights.sum(-2, keepdim=True).clamp(min=1e-30)")),
    Fault("em", "padding-counted",
          "PAD takes part: letters or sounds behind the end of a word get weight.",
          swap=(LOOKED_UP, "weights = table[rows, columns]")),
    Fault("em", "padding-of-letters-counted",
          "PAD among the letters gets weight: the letters of a short word get too little.",
          swap=("((rows != PAD) & (columns != PAD))", "(columns != PAD)")),
    Fault("em", "counts-overwrite",
          "Where a letter and a sound meet several times, your table keeps one of their weights. Add them all.",
          swap=("weights, accumulate=True", "weights, accumulate=False")),
    Fault("em", "table-not-normalised",
          "The rows of your table are counts. Divide each letter's counts by their sum.",
          swap=(NEW, "return torch.where(total > 0, counts, table), weights")),
    Fault("em", "columns-normalised",
          "You divide by the sum over the letters: that is P(letter | sound). Each row of the table sums to 1.",
          swap=(TOTAL, "total = counts.sum(0, keepdim=True)")),
    Fault("em", "unseen-letters-lost",
          "A letter that occurs nowhere has lost its row. It keeps the old one.",
          swap=(NEW, "return counts / total.clamp(min=1e-30), weights")),
    Fault("em", "table-not-used",
          "All letters of a word get the same weight in every round. Look up the table.",
          swap=(LOOKED_UP, "weights = torch.ones(rows.shape) * ((rows != PAD) & (columns != PAD))")),

    # ------------------------------------------------------------ best-path
    Fault("best-path", "each-alone",
          "You choose the best letter for each sound alone. The path may not go back.",
          source='''def best_path(scores):
    return scores.argmax(dim=-1).tolist()
'''),
    Fault("best-path", "greedy",
          "You decide sound by sound, from the first to the last. An early choice can cost more later: keep the best "
          "sum for every letter, and walk back at the end.",
          source='''def best_path(scores):
    path = [0]
    for row in scores:
        path.append(path[-1] + int(row[path[-1]:].argmax()))
    return path[1:]
'''),
    Fault("best-path", "sorted",
          "You sort the best letters. That does not go back, but its sum is not the largest.",
          source='''def best_path(scores):
    return scores.argmax(dim=-1).sort().values.tolist()
'''),
    Fault("best-path", "no-staying",
          "Each sound takes a later letter than the one before. A letter may make several sounds.",
          source='''def best_path(scores):
    best, steps = scores[0], []
    for row in scores[1:]:
        reach, came_from = best.cummax(0)
        reach, came_from = reach.roll(1), came_from.roll(1)
        reach[0], came_from[0] = -1e9, 0
        steps.append(came_from)
        best = reach + row
    path = [int(best.argmax())]
    for came_from in reversed(steps):
        path.append(int(came_from[path[-1]]))
    return path[::-1]
'''),
    Fault("best-path", "from-the-end",
          "The path is in reverse: you walked back from the last sound. Turn it round.",
          swap=("return path[::-1]", "return path")),
    Fault("best-path", "ends-at-the-last-letter",
          "Your path always ends at the last letter. The last letters may be silent.",
          swap=(LAST, "path = [len(best) - 1]")),

    # ------------------------------------------------------------ other-network
    Fault("other-network", "state-not-carried",
          "The encoder starts every letter from zeros. Pass the state on.",
          swap=(READ, READ + "\n        h = torch.zeros_like(h)")),
    Fault("other-network", "reads-backwards",
          "You read the word from its end. This encoder reads from the first letter to the last.",
          swap=(READ, "for letter in reversed(letters):")),
    Fault("other-network", "encoder-speaks",
          "The decoder uses the encoder's embedding. Sounds have rows of their own, `dec_emb`.",
          swap=('weights["dec_emb"][[last]]', 'weights["enc_emb"][[last % len(weights["enc_emb"])]]')),
    Fault("other-network", "always-start",
          "Every step of the decoder reads `start`. From the second step on it reads what it has just written.",
          swap=('weights["dec_emb"][[last]]', 'weights["dec_emb"][[start]]')),
    Fault("other-network", "end-kept",
          "`end` is in your list. Stop before you keep it.",
          swap=(STOP, "        written.append(last)\n        if last == end:\n            break")),
    Fault("other-network", "goes-on-after-end",
          "You leave out `end`, but go on after it.",
          swap=(STOP, "        if last != end:\n            written.append(last)")),
    Fault("other-network", "no-output-bias",
          "The bias `fc_b` of the output layer is missing.",
          swap=(CHOSEN, 'last = int((h @ weights["fc_w"].T).argmax())')),
    Fault("other-network", "own-cell",
          "You call `gru_cell` whatever `cell` is given. Call the argument: the demonstration passes others.",
          swap=[("h = cell(weights[\"enc_emb\"]", "h = gru_cell(weights[\"enc_emb\"]"),
                ("h = cell(x_t, h", "h = gru_cell(x_t, h")]),

    # ------------------------------------------------------------ step
    Fault("step", "padding-not-masked",
          "PAD gets weight. Set its scores to minus infinity before the softmax.",
          swap=(SOFTMAX, "attention_weights = scores.softmax(dim=-1)")),
    Fault("step", "masked-after-softmax",
          "You set the weights of PAD to 0 after the softmax, and then they do not sum to 1. Mask the scores.",
          swap=(SOFTMAX, "attention_weights = scores.softmax(dim=-1) * mask")),
    Fault("step", "not-scaled",
          "The scores are not divided by √H.",
          swap=("        scores = scores / math.sqrt(hdec.shape[-1])\n", "")),
    Fault("step", "no-query",
          "You compare the state itself with the letters. It goes through `self.query` first.",
          swap=("self.query(hdec)", "hdec")),
    Fault("step", "new-state-asks",
          "The query comes from the state after the step. The context enters the cell, so it is needed before.",
          source='''class Speller(SpellerBase):
    def step(self, tokens, hdec, henc_ts, mask):
        def attend(state):
            scores = torch.einsum("bsh,bh->bs", henc_ts, self.query(state)) / math.sqrt(state.shape[-1])
            weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)
            return torch.einsum("bs,bsh->bh", weights, henc_ts), weights
        context, _ = attend(hdec)
        hdec = self.cell(torch.cat([self.sounds(tokens), context], dim=-1), hdec)
        context, attention_weights = attend(hdec)
        combined = torch.tanh(self.combine(torch.cat([hdec, context], dim=-1)))
        return self.output(combined), hdec, attention_weights
'''),
    Fault("step", "old-state-read",
          "The logits come from the state before the step. The cell's new state is what has just read the context.",
          swap=[(CELL, "after = self.cell(torch.cat([embedded, context], dim=-1), hdec)"),
                ("return self.output(combined), hdec, attention_weights",
                 "return self.output(combined), after, attention_weights")]),
    Fault("step", "context-first",
          "Context and embedding enter the cell in the other order. The weights of a trained model would not fit.",
          swap=(CELL, "hdec = self.cell(torch.cat([context, embedded], dim=-1), hdec)")),
    Fault("step", "context-not-combined",
          "Context and state are combined in the other order: the weights of a trained model would not fit.",
          swap=(BOTH, "both = self.dropout(torch.cat([context, hdec], dim=-1))")),
    Fault("step", "no-tanh",
          "The tanh between `combine` and `output` is missing; two linear layers are one.",
          swap=(COMBINED, "combined = self.dropout(self.combine(both))")),

    # ------------------------------------------------------------ beam
    Fault("beam", "logits-added",
          "You add logits. Sums of log-probabilities need `log_softmax`.",
          swap=(CANDIDATES, "candidates = scores[:, None] + logits")),
    Fault("beam", "scores-forgotten",
          "The scores of the hypotheses are lost: each step ranks its own log-probabilities alone.",
          swap=(CANDIDATES, "candidates = logits.log_softmax(-1)")),
    Fault("beam", "states-not-reordered",
          "After the choice, the states still stand in the order of the old hypotheses.",
          swap=(REORDER, "        hdec = hdec[:1].expand(len(rows), -1)\n")),
    Fault("beam", "not-normalised",
          "`alpha` is not used: complete hypotheses keep their sums.",
          swap=(FINAL, "float(score)")),
    Fault("beam", "end-not-counted",
          "The length leaves out END. It is one of the ids whose log-probabilities were added.",
          swap=(FINAL, "float(score) / max(len(written[row]), 1) ** alpha")),
    Fault("beam", "worst-first",
          "The worst hypothesis stands first.",
          swap=(SORTED, "return sorted(complete, key=lambda one: one[1])")),
    Fault("beam", "not-sorted",
          "The hypotheses stand in the order in which they were complete. Sort them by their final scores.",
          swap=(SORTED, "return complete")),
    Fault("beam", "empty-when-unfinished",
          "If no hypothesis is complete, you return nothing. Return those that were going on.",
          swap=("if not complete:", "if False:")),

    # ------------------------------------------------------------ average
    Fault("average", "sum",
          "This is the sum. Divide by the number of state dicts.",
          swap=(".mean(0)", ".sum(0)")),
    Fault("average", "last-one",
          "You return one of the state dicts.",
          swap=(MEAN, "states[-1][name].clone()")),
    Fault("average", "one-number",
          "Each tensor has become a single number. Take the mean over the state dicts only.",
          swap=(".mean(0)", ".mean()")),
    Fault("average", "first-two",
          "You average the first and the last. All of them count.",
          swap=(MEAN, "(states[0][name] + states[-1][name]) / 2")),
]

VARIANTS = [
    Variant("split", "with a dictionary of words", source='''def split_by_word(pairs, share, seed):
    by_word = {}
    for word, sounds in pairs:
        by_word.setdefault(word, []).append(sounds)
    words = sorted(by_word)
    random.Random(seed).shuffle(words)
    n = round(len(words) * share)
    chosen = dict.fromkeys(words[:n])
    train, test = [], []
    for pair in pairs:
        (test if pair[0] in chosen else train).append(pair)
    return train, test


def shared(train, test):
    hits = 0
    for word, _ in test:
        hits += any(word == other for other, _ in train)
    return hits / len(test)
'''),
    Variant("edit-distance", "recursive", source='''def edit_distance(a, b):
    known = {}
    def between(i, j):
        if i == 0 or j == 0:
            return i + j
        if (i, j) not in known:
            known[i, j] = min(between(i - 1, j) + 1, between(i, j - 1) + 1,
                              between(i - 1, j - 1) + (a[i - 1] != b[j - 1]))
        return known[i, j]
    return between(len(a), len(b))
'''),
    Variant("edit-distance", "the whole table", source='''def edit_distance(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if i == 0:
                table[i][j] = j
            elif j == 0:
                table[i][j] = i
            elif a[i - 1] == b[j - 1]:
                table[i][j] = table[i - 1][j - 1]
            else:
                table[i][j] = 1 + min(table[i - 1][j], table[i][j - 1], table[i - 1][j - 1])
    return table[-1][-1]
'''),
    Variant("error-rates", "with a loop", source='''def error_rates(found, references):
    wrong = errors = length = 0
    for said, listed in zip(found, references):
        distances = [edit_distance(said, right) for right in listed]
        smallest = min(distances)
        errors += smallest
        length += max(len(right) for right, d in zip(listed, distances) if d == smallest)
        wrong += said not in [tuple(right) for right in listed]
    return wrong / len(found), errors / length
'''),
    Variant("em", "with loops", source='''def em_round(letters, sounds, table):
    weights = torch.zeros(len(letters), sounds.shape[1], letters.shape[1], device=table.device)
    counts = torch.zeros_like(table)
    for b, (word, said) in enumerate(zip(letters.tolist(), sounds.tolist())):
        for t, sound in enumerate(said):
            if sound == PAD:
                continue
            total = sum(float(table[letter, sound]) for letter in word if letter != PAD)
            for s, letter in enumerate(word):
                if letter != PAD:
                    weights[b, t, s] = table[letter, sound] / total
                    counts[letter, sound] += weights[b, t, s]
    new = table.clone()
    for letter, row in enumerate(counts):
        if row.sum() > 0:
            new[letter] = row / row.sum()
    return new, weights
'''),
    Variant("best-path", "the whole table", source='''def best_path(scores):
    T, S = scores.shape
    scores = scores.tolist()
    best = [scores[0]]
    for t in range(1, T):
        best.append([scores[t][s] + max(best[-1][:s + 1]) for s in range(S)])
    path, last = [], S - 1
    for row in reversed(best):
        last = max(range(last + 1), key=lambda s: row[s])
        path.insert(0, last)
    return path
'''),
    Variant("other-network", "embedded at once", swap=[
        (READ, "for x_t in weights[\"enc_emb\"][torch.tensor(letters)]:"),
        ("weights[\"enc_emb\"][[letter]], h,", "x_t[None], h,")]),
    Variant("step", "batched products", swap=[
        (SCORES, "scores = (henc_ts @ self.query(hdec)[:, :, None])[..., 0] * hdec.shape[1] ** -0.5"),
        (SOFTMAX, "attention_weights = F.softmax(scores + torch.zeros_like(scores).masked_fill(mask == 0, "
                  "float('-inf')), -1)"),
        ('torch.einsum("bs,bsh->bh", attention_weights, henc_ts)',
         "(attention_weights[:, None] @ henc_ts).squeeze(1)")]),
    Variant("beam", "hypotheses one by one", source='''def beam_search(model, word, width, alpha=0.0, timesteps=28):
    with torch.no_grad():
        henc_ts, mask, first = model.encode(pronunciation.letter_ids([word]))
        going, complete = [([], 0.0, first)], []
        for _ in range(timesteps):
            candidates = []
            for ids, score, hdec in going:
                last = torch.tensor([ids[-1] if ids else START], device=henc_ts.device)
                logits, after, _ = model.step(last, hdec, henc_ts, mask)
                for token, value in enumerate(F.log_softmax(logits[0], dim=0).tolist()):
                    candidates.append((ids + [token], score + value, after))
            candidates.sort(key=lambda one: one[1], reverse=True)
            going = []
            for ids, score, hdec in candidates[:width]:
                if ids[-1] == END:
                    complete.append((ids[:-1], score / len(ids) ** alpha))
                else:
                    going.append((ids, score, hdec))
            if not going:
                break
        if not complete:
            complete = [(ids, score / len(ids) ** alpha) for ids, score, _ in going]
        return sorted(complete, key=lambda one: one[1], reverse=True)
'''),
    Variant("average", "added and divided", source='''def average(states):
    mean = {name: tensor.clone() for name, tensor in states[0].items()}
    for state in states[1:]:
        for name in mean:
            mean[name] = mean[name] + state[name]
    return {name: tensor / len(states) for name, tensor in mean.items()}
'''),
]
