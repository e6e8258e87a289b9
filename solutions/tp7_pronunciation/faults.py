"""Wrong versions that learners write in session 7."""

from autograder.authoring import Fault

DELETIONS = "Your distance from the first i items of `a` to an empty sequence is too small. It takes i deletions."
COUNTED = ("Your n of a complete hypothesis is wrong. It counts END and not START: one more than the ids that you "
           "return.")
LONGEST_NEAREST = ("Where several references are equally near, your PER does not count the length of the longest. It "
                   "must.")
READ = "for letter in letters:"
NEAREST = "min((edit_distance(said, right), -len(right)) for right in listed)"
STOP = '''        if last == end:
            break
        written.append(last)'''
CANDIDATES = "candidates = scores[:, None] + logits.log_softmax(-1)"
NORMALISED = "weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)"
BEST = "best_scores, best = candidates.flatten().topk(min(width, candidates.numel()))"
OF_EACH = """best_scores, tokens = candidates.topk({})
        best = (candidates.shape[1] * torch.arange(K, device=tokens.device)[:, None] + tokens).flatten()
        best_scores = best_scores.flatten()"""

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
    return sum(word in known for word, _ in test) / len(test)'''),
    Fault("split", "shared-words-not-pairs",
          "You count distinct words. `shared` is a share of the test pairs.",
          replace=("return sum(word in known for word, _ in test) / len(test)",
                   "unseen = {word for word, _ in test}\n    return len(unseen & known) / len(unseen)")),
    Fault("split", "share-of-the-pairs",
          "The number of your test words is a share of the number of pairs. Take the share of the number of distinct "
          "words.",
          replace=("share * len(words)", "share * len(pairs)")),
    Fault("split", "in-the-order-of-the-draw",
          "You draw the right words, but your results have their pairs in the order of the shuffled words. The pairs "
          "of each side keep the order that they have in `pairs`.",
          replace=[("test_words = set(words[:round(share * len(words))])", "n = round(share * len(words))"),
                   ("[pair for pair in pairs if pair[0] not in test_words]",
                    "[pair for word in words[n:] for pair in pairs if pair[0] == word]"),
                   ("[pair for pair in pairs if pair[0] in test_words]",
                    "[pair for word in words[:n] for pair in pairs if pair[0] == word]")]),
    Fault("split", "words-repeated",
          "A word with several pronunciations is in your draw several times. Draw from the distinct words.",
          replace=("sorted({word for word, _ in pairs})", "sorted(word for word, _ in pairs)")),
    Fault("split", "not-sorted",
          "You shuffle the words in the order in which `pairs` has them. Sort them before the shuffle.",
          replace=("sorted({word for word, _ in pairs})", "list(dict.fromkeys(word for word, _ in pairs))")),
    Fault("split", "last-words",
          "Your test words are the last of the shuffled words; with few words, `sample` draws these, too. Shuffle "
          "the words, and take the first ones.",
          replace=("words[:round(share * len(words))]", "words[-round(share * len(words)):]")),
    Fault("split", "rounded-down",
          "You round the number of test words down. Round it to the nearest whole number: 2.6 words are three.",
          replace=("round(share", "int(share")),
    Fault("split", "pairs-compared",
          "`shared` is 0 where some words are the same. It is the number of test pairs with a word of training, "
          "whatever their sounds, divided by the number of all test pairs.",
          replace=("sum(word in known for word, _ in test)", "sum(pair in train for pair in test)")),

    # ------------------------------------------------------------ edit-distance
    Fault("edit-distance", "first-row-zero",
          "Your distance from an empty sequence to the first j items of `b` is 0. It takes j insertions.",
          replace=("list(range(len(b) + 1))", "[0] * (len(b) + 1)")),
    Fault("edit-distance", "corner-of-the-same-row",
          "Your replacement adds to the new entry on the left. Add to the old one above it: keep the row above "
          "unchanged. (`[row] * n`, for example, is the same list n times.)",
          replace=("above[j - 1] + (x != y)", "row[j - 1] + (x != y)")),
    Fault("edit-distance", "longest-common-subsequence",
          "Where one item is deleted in one place and another inserted elsewhere, your distance counts one "
          "operation. It takes two: fill the table that the exercise describes.",
          source='''def edit_distance(a, b):
    common = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, one in enumerate(a):
        for j, other in enumerate(b):
            common[i + 1][j + 1] = common[i][j] + 1 if one == other else max(common[i][j + 1], common[i + 1][j])
    return max(len(a), len(b)) - common[-1][-1]'''),
    Fault("edit-distance", "replacement-as-two-operations",
          "To replace an item costs 2 in your answer, as a deletion and an insertion do. It costs 1.",
          replace=("above[j - 1] + (x != y)", "above[j - 1] + 2 * (x != y)")),
    Fault("edit-distance", "first-column-zero", DELETIONS,
          replace=("above, row = row, [i]", "above, row = row, [0]")),
    Fault("edit-distance", "first-column-one-too-small", DELETIONS,
          replace=("above, row = row, [i]", "above, row = row, [i - 1]")),
    Fault("edit-distance", "position-by-position",
          "You compare the items at equal positions, so one inserted item makes all later ones wrong. Fill a table of "
          "the distances between all beginnings of `a` and of `b`.",
          body="return sum(x != y for x, y in zip(a, b)) + abs(len(a) - len(b))"),
    Fault("edit-distance", "cost-inverted",
          "To replace an item by an equal one costs 1 in your answer, and by another one 0. It is the other way "
          "round.",
          replace=("(x != y)", "(x == y)")),

    # ------------------------------------------------------------ error-rates
    Fault("error-rates", "first-reference-only",
          "Your WER counts a word as wrong if it is not the first of its references. It is right if it is any of "
          "them.",
          replace=("sum(d > 0 for d in distances)",
                   "sum(list(said) != list(listed[0]) for said, listed in zip(found, references, strict=True))")),
    Fault("error-rates", "longest-of-all-references",
          "Your PER divides by the length of each word's longest reference. Divide by that of its nearest one.",
          replace=("-sum(lengths)", "sum(max(map(len, listed)) for listed in references)")),
    Fault("error-rates", "first-reference-for-both",
          "You compare each word with the first of its references only. Take the nearest of all.",
          replace=("for right in listed)", "for right in listed[:1])")),
    Fault("error-rates", "longest-before-nearest",
          "Your PER measures each word by the longest of its references. Take the nearest; the length decides only "
          "between equally near ones.",
          replace=[(NEAREST, "min((-len(right), edit_distance(said, right)) for right in listed)[::-1]"),
                   ("d > 0 for d in distances", "said not in listed for said, listed in zip(found, references)")]),
    Fault("error-rates", "first-of-the-nearest", LONGEST_NEAREST,
          replace=(NEAREST, NEAREST.replace("min((", "min(((")[:-1] + "), key=lambda one: one[0])")),
    Fault("error-rates", "shortest-of-the-nearest", LONGEST_NEAREST,
          replace=[("-len(right)", "len(right)"), ("-sum(lengths)", "sum(lengths)")]),
    Fault("error-rates", "mean-of-quotients",
          "Your PER is the mean of the words' own rates. Divide the sum of all distances by the sum of all lengths.",
          replace=("sum(distances) / -sum(lengths)", "sum(d / -n for d, n in nearest) / len(nearest)")),
    Fault("error-rates", "divided-by-found",
          "Your PER divides by the lengths of the answers. Divide by those of the nearest references.",
          replace=("-sum(lengths)", "sum(map(len, found))")),
    Fault("error-rates", "divided-by-all-references",
          "Your PER divides by the lengths of all references. Divide by that of the nearest one of each word.",
          replace=("-sum(lengths)", "sum(len(right) for listed in references for right in listed)")),
    Fault("error-rates", "wer-per-reference",
          "Your WER divides by the number of references. Divide by the number of words.",
          replace=("wrong / len(distances)", "wrong / sum(map(len, references))")),

    # ------------------------------------------------------------ em
    Fault("em", "padding-in-the-sum",
          "PAD letters are in the sum by which you divide, so the weights of a short word's letters add up to less "
          "than 1. Set them to 0 before the sum.",
          replace=[(" * ((rows != PAD) & (columns != PAD))", ""),
                   (NORMALISED, NORMALISED + " * ((rows != PAD) & (columns != PAD))")]),
    Fault("em", "padding-of-the-sounds",
          "Timesteps whose sound is PAD have weights too, and are counted. Only timesteps with a sound count.",
          replace=(" & (columns != PAD)", "")),
    Fault("em", "padding-of-the-letters",
          "PAD letters have weights too, and are counted. Only letters of the word share a sound.",
          replace=("(rows != PAD) & ", "")),
    Fault("em", "weights-over-the-sounds",
          "The weights of a letter add up to 1 over the sounds. Those of a sound must add up to 1 over the letters.",
          replace=("weights.sum(-1, keepdim=True)", "weights.sum(1, keepdim=True)")),
    Fault("em", "weights-not-normalised",
          "Your weights are the probabilities as they are in the table. Divide them by their sum over the letters.",
          replace=("    " + NORMALISED + "\n", "")),
    Fault("em", "softmax-of-probabilities",
          "Your weights are a softmax of the probabilities. Divide the probabilities by their sum.",
          replace=(NORMALISED, "weights = table[rows, columns].masked_fill(rows == PAD, -math.inf).softmax(-1) "
                               "* (columns != PAD)")),
    Fault("em", "table-over-the-letters",
          "You divide the counts by their sum over the letters. Divide those of a letter by their sum over the sounds.",
          replace=("counts / total.clamp(min=1e-30)", "counts / counts.sum(0).clamp(min=1e-30)")),
    Fault("em", "divided-by-occurrences",
          "You divide a letter's counts by the number of times it occurs, so its row need not add up to 1. Divide by "
          "the sum of its counts.",
          replace=("total = counts.sum(-1, keepdim=True)",
                   "total = torch.bincount(letters[letters != PAD], minlength=len(table))[:, None].to(table.dtype)")),
    Fault("em", "unseen-letters-zero",
          "The rows of letters that do not occur are 0. They keep their old probabilities.",
          replace=("torch.where(total > 0, counts / total.clamp(min=1e-30), table)",
                   "counts / total.clamp(min=1e-30)")),
    Fault("em", "weights-of-the-new-table",
          "The weights that you return are those of the new table. Return those from which it was counted.",
          replace=("return torch.where(total > 0, counts / total.clamp(min=1e-30), table), weights",
                   """new = torch.where(total > 0, counts / total.clamp(min=1e-30), table)
    weights = new[rows, columns] * (weights > 0)
    return new, weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)""")),

    # ------------------------------------------------------------ best-path
    Fault("best-path", "greedy",
          "You choose a letter for one sound after the other, so an early choice can cost more later. Keep the best "
          "sum for every letter, and follow the letters back at the end.",
          body='''
path = [0]
for row in scores:
    path.append(path[-1] + int(row[path[-1]:].argmax()))
return path[1:]'''),
    Fault("best-path", "from-the-end",
          "Your path begins with the last sound. Reverse it.",
          replace=("return path[::-1]", "return path")),
    Fault("best-path", "ends-at-the-last-letter",
          "Your path ends at the last letter. Begin the way back at the letter with the largest sum.",
          replace=("path = [int(best.argmax())]", "path = [len(best) - 1]")),
    Fault("best-path", "begins-at-the-first-letter",
          "Your path begins at the first letter. Any letter may be the first: begin with the scores of all of them.",
          replace=("best, steps = scores[0], []", "best, steps = scores[0].clone(), []\n    best[1:] = -math.inf")),
    Fault("best-path", "no-letter-skipped",
          "Your path only stays at a letter or goes to the next one. A letter may be silent: any later letter can "
          "follow.",
          replace=("best, came_from = best.cummax(0)",
                   "before = torch.cat([best.new_full((1,), -math.inf), best[:-1]])\n"
                   "        came_from = torch.arange(len(best), device=best.device) - (before > best).long()\n"
                   "        best = torch.maximum(before, best)")),
    Fault("best-path", "each-sound-alone",
          "You take the best letter of each sound alone, so your path can go back. Keep the best sum for every letter, "
          "from letters up to it, and follow the letters back at the end.",
          body="return scores.argmax(dim=1).tolist()"),
    Fault("best-path", "largest-sum-of-each-sound",
          "You take the letter with the largest sum at each sound. These belong to different paths: begin at the last "
          "sound, and follow back where each sum came from.",
          body="""
sums = [scores[0]]
for row in scores[1:]:
    sums.append(sums[-1].cummax(0).values + row)
return torch.stack(sums).argmax(dim=1).tolist()"""),
    Fault("best-path", "row-added-too-early",
          "You add the scores of a sound before you take the maximum. Take the maximum of the previous sums, and add "
          "the scores of this sound to it.",
          replace=[("best, came_from = best.cummax(0)", "best, came_from = (best + row).cummax(0)"),
                   ("        best = best + row\n", "")]),
    Fault("best-path", "followed-from-the-first",
          "You follow the steps from the first to the last, beginning with the letter of the last sound. Follow them "
          "from the last back to the first.",
          replace=("in reversed(steps)", "in steps")),

    # ------------------------------------------------------------ other-network
    Fault("other-network", "reads-backwards",
          "You read the word from its end. This encoder reads from the first letter to the last.",
          replace=(READ, "for letter in reversed(letters):")),
    Fault("other-network", "start-not-read",
          "Your decoder takes the first sound from the encoder's state, and never reads `start`. It begins with a cell "
          "step that reads `start`.",
          replace=[("written, last = [], start", "written, last = [], None"),
                   ("        x_t = weights", "        if last is not None:\n            x_t = weights"),
                   ("        h = cell(x_t, h", "            h = cell(x_t, h")]),
    Fault("other-network", "letters-read-alone",
          "Your encoder's last state contains the last letter only. Read all letters, and carry the state from each to "
          "the next.",
          replace=('h = cell(weights["enc_emb"][[letter]], h, ',
                   'h = cell(weights["enc_emb"][[letter]], torch.zeros_like(h), ')),
    Fault("other-network", "output-bias-left-out",
          "The bias of the output layer, `weights[\"fc_b\"]`, is missing.",
          replace=(' + weights["fc_b"]', "")),
    Fault("other-network", "first-letter-skipped",
          "Your encoder begins at the second letter. It reads all letters.",
          replace=(READ, "for letter in letters[1:]:")),
    Fault("other-network", "always-start",
          "Every step of the decoder gets `start`. From the second step on, its input is the previous output.",
          replace=('weights["dec_emb"][[last]]', 'weights["dec_emb"][[start]]')),
    Fault("other-network", "state-not-carried",
          "Each step of the decoder starts from the encoder's state. Carry the state from one step to the next.",
          replace=[("h = cell(x_t, h,", "new = cell(x_t, h,"), ("int((h @", "int((new @")]),
    Fault("other-network", "end-kept",
          "`end` is in your list. Stop before you keep it.",
          replace=(STOP, "        written.append(last)\n        if last == end:\n            break")),
    Fault("other-network", "last-letter-skipped",
          "The last letter is not in your encoder's state. Read all letters, and return the state after the last "
          "one.",
          replace=(READ, "for letter in letters[:-1]:")),
    Fault("other-network", "one-step-behind",
          "Your decoder's logits come from the state before the step. Make the step first: they come from the new "
          "state.",
          replace=[("h = cell(x_t, h,", "before, h = h, cell(x_t, h,"), ("int((h @", "int((before @")]),
    Fault("other-network", "goes-on-after-end",
          "You leave `end` out of your list, and go on after it. Stop there.",
          replace=(STOP, "        if last != end:\n            written.append(last)")),
    Fault("other-network", "one-step-too-many", "You write up to `timesteps` + 1 ids. Write at most `timesteps`.",
          replace=("range(timesteps)", "range(timesteps + 1)")),

    # ------------------------------------------------------------ step
    Fault("step", "no-query",
          "Your scores are dot products of the state itself with `henc_ts`. Take those of "
          "`self.query(hdec)`.",
          replace=("self.query(hdec)", "hdec")),
    Fault("step", "scaled-by-the-letters",
          "Your scores are divided by √S, S being the number of letters. Divide them by √H, H being the length of the "
          "vectors that you multiply.",
          replace=("math.sqrt(hdec.shape[-1])", "math.sqrt(henc_ts.shape[1])")),
    Fault("step", "context-averaged",
          "Your context is divided by the number of letters. The weights add up to 1: add up the weighted vectors, "
          "and do not take their mean.",
          replace=('context = torch.einsum("bs,bsh->bh", attention_weights, henc_ts)',
                   'context = torch.einsum("bs,bsh->bh", attention_weights, henc_ts) / henc_ts.shape[1]')),
    Fault("step", "logits-of-the-old-state",
          "Your logits are computed from the state before the step. Use the new state.",
          replace=[("hdec = self.cell(", "new = self.cell("), ("combined), hdec,", "combined), new,")]),
    Fault("step", "no-tanh",
          "The tanh between `combine` and `output` is missing.",
          replace=("torch.tanh(self.combine(both))", "self.combine(both)")),
    Fault("step", "padding-scored-zero",
          "Your scores of PAD are 0, or nearly 0, so its weights are not: exp(0) is 1. Set these scores to −∞.",
          replace=("scores.masked_fill(~mask, -math.inf)", "scores.masked_fill(~mask, 0.0)")),
    Fault("step", "masked-after-the-softmax",
          "You set the weights of the padding to 0 after the softmax, so the others do not add up to 1. Mask the "
          "scores before it.",
          replace=("scores.masked_fill(~mask, -math.inf).softmax(dim=-1)", "scores.softmax(dim=-1) * mask")),
    Fault("step", "query-of-the-letters",
          "The matrix of `self.query` is on the wrong side: it is applied to `henc_ts`, or it is transposed. Take "
          "the dot products of `self.query(hdec)` with `henc_ts`.",
          replace=("henc_ts, self.query(hdec)", "self.query(henc_ts), hdec")),
    Fault("step", "not-scaled", "Your scores are not scaled: divide them by √H.",
          replace=("        scores = scores / math.sqrt(hdec.shape[-1])\n", "")),
    Fault("step", "softmax-over-the-batch",
          "Your weights add up to 1 over the words of the batch. Those of a word must add up to 1 over its letters.",
          replace=(".softmax(dim=-1)", ".softmax(dim=0)")),
    Fault("step", "context-before-embedding",
          "The cell reads the context before the embedded sound. It reads the embedded sound first.",
          replace=("[embedded, context]", "[context, embedded]")),
    Fault("step", "old-state-returned",
          "You return the state from before the step. Return the new one.",
          replace=[("hdec = self.cell(", "new = self.cell("), ("[hdec, context]", "[new, context]")]),
    Fault("step", "no-dropout",
          "There is no dropout in your step. The embedded sounds, the input of `combine` and the result of the tanh go "
          "through it.",
          replace=[("self.dropout(self.sounds(tokens))", "self.sounds(tokens)"),
                   ("self.dropout(torch.cat([hdec, context], dim=-1))", "torch.cat([hdec, context], dim=-1)"),
                   ("self.dropout(torch.tanh(self.combine(both)))", "torch.tanh(self.combine(both))")]),

    # ------------------------------------------------------------ beam
    Fault("beam", "logits-added",
          "You add logits. Add log-probabilities: use `log_softmax`.",
          replace=(CANDIDATES, "candidates = scores[:, None] + logits")),
    Fault("beam", "log-of-softmax",
          "A probability below 1e-45 is 0 as a float, and its logarithm −∞. `log_softmax` computes the logarithm "
          "without the probability, and stays finite.",
          replace=(CANDIDATES, "candidates = scores[:, None] + logits.softmax(-1).log()")),
    Fault("beam", "scores-forgotten",
          "You do not add the scores of the hypotheses, so each step ranks its own log-probabilities alone.",
          replace=(CANDIDATES, "candidates = logits.log_softmax(-1)")),
    Fault("beam", "states-not-reordered",
          "All hypotheses go on with the state of the first one. Choose the rows of the states as you choose the "
          "hypotheses.",
          replace=("        hdec = hdec[rows]\n", "        hdec = hdec[:1].expand(len(rows), -1)\n")),
    Fault("beam", "old-states-kept",
          "The hypotheses go on with the decoder's states from before the step. Keep those that `model.step` "
          "returns.",
          replace=("logits, hdec, _ = model.step(", "logits, _, _ = model.step(")),
    Fault("beam", "every-end-complete",
          "At every step you complete every hypothesis with END. A candidate that ends is complete only if it is among "
          "the best `width`.",
          replace=(BEST, """complete += [(ids, float(score) / (len(ids) + 1) ** alpha)
                     for ids, score in zip(written, candidates[:, END])]
        candidates[:, END] = -math.inf
        best_scores, best = candidates.flatten().topk(min(width, candidates.numel() - K))""")),
    Fault("beam", "as-many-of-each",
          "You keep the same number of candidates of each hypothesis. Choose the best `width` of all hypotheses "
          "together: there may be several of one, and none of another.",
          replace=(BEST, OF_EACH.format("min(max(1, width // K), candidates.shape[1])"))),
    Fault("beam", "complete-ones-take-places",
          "Complete hypotheses take places in your beam. Set them aside, and choose the best `width` candidates that "
          "continue the others.",
          replace=("topk(min(width,", "topk(min(max(0, width - len(complete)),")),
    Fault("beam", "stops-when-width-are-complete",
          "You stop as soon as `width` hypotheses are complete. Others may still end with a better score: go on "
          "until none is left, or `timesteps` steps are done.",
          replace=("if not written:", "if not written or len(complete) >= width:")),
    Fault("beam", "not-normalised",
          "The score of a complete hypothesis is its plain sum. Divide it by n to the power `alpha`.",
          replace=("float(score) / (len(written[row]) + 1) ** alpha", "float(score)")),
    Fault("beam", "end-not-counted", COUNTED,
          replace=("(len(written[row]) + 1) ** alpha", "max(1, len(written[row])) ** alpha")),
    Fault("beam", "start-counted", COUNTED,
          replace=("(len(written[row]) + 1) ** alpha", "(len(written[row]) + 2) ** alpha")),
    Fault("beam", "empty-when-unfinished",
          "If no hypothesis is complete, you return an empty list. Return the unfinished ones.",
          replace=("if not complete:", "if False:")),
    Fault("beam", "unfinished-always-added",
          "You also return hypotheses that are not complete where others are. They count only if none is complete.",
          replace=("if not complete:\n        complete = [", "if True:\n        complete += [")),
    Fault("beam", "best-id-of-each",
          "After the first step, you continue each hypothesis with its best id only. Choose the best `width` of all "
          "hypotheses together: there may be several of one, and none of another.",
          replace=(BEST, OF_EACH.format("1 if written[0] else min(width, candidates.shape[1])"))),
    Fault("beam", "unfinished-not-normalised",
          "The score of an unfinished hypothesis is its plain sum. Divide it, too, by its length to the power `alpha`.",
          replace=("float(score) / len(ids) ** alpha", "float(score)")),

    # ------------------------------------------------------------ average
    Fault("average", "changed-in-place",
          "The first state dict has become the mean: `+=` and `/=`, for example, change the tensor itself. Work on a "
          "copy.",
          body='''
mean = states[0]
for state in states[1:]:
    for name in mean:
        mean[name] += state[name]
for name in mean:
    mean[name] /= len(states)
return mean'''),
    Fault("average", "first-state-twice",
          "The first state counts twice in your mean. Each state counts once.",
          replace=[("for state in states]", "for state in [states[0], *states]]"),
                   (".mean(0)", ".sum(0) / len(states)")]),
    Fault("average", "last-state-missing",
          "The last state is missing in your sum. Add up all states.",
          replace=("for state in states]", "for state in states[:-1]] + [0 * states[0][name]]")),
]
