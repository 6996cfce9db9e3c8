"""Ranking metrics by their definitions: one row and one label at a time, on dense arrays."""

from math import log, log2

import numpy as np


def ranking(scores):
    """Labels by decreasing score; ties by increasing label."""
    return sorted(range(len(scores)), key=lambda label: (-scores[label], label))


def true_labels(truth):
    return [label for label in range(len(truth)) if truth[label]]


def n_at_least(scores, label, among):
    return sum(scores[other] >= scores[label] for other in among)


def lrap(Y, S, weight=None, no_label_rows="drop"):
    values, weights = [], []
    for truth, scores, w in rows(Y, S, weight):
        relevant = true_labels(truth)
        if relevant:
            shares = [
                n_at_least(scores, label, relevant) / n_at_least(scores, label, range(len(scores)))
                for label in relevant
            ]
            values.append(sum(shares) / len(relevant))
            weights.append(w)
        elif no_label_rows == "one":
            values.append(1.0)
            weights.append(w)
    return mean(values, weights)


def coverage_error(Y, S, weight=None):
    depths, weights = [], []
    for truth, scores, w in rows(Y, S, weight):
        everything = range(len(scores))
        found_at = [n_at_least(scores, label, everything) for label in true_labels(truth)]
        depths.append(max(found_at, default=0))
        weights.append(w)
    return mean(depths, weights)


def label_ranking_loss(Y, S, weight=None):
    losses, weights = [], []
    for truth, scores, w in rows(Y, S, weight):
        pairs = [(t, f) for t in true_labels(truth) for f in true_labels(1 - truth)]
        wrong = [scores[f] >= scores[t] for t, f in pairs]
        losses.append(sum(wrong) / len(pairs) if pairs else 0.0)
        weights.append(w)
    return mean(losses, weights)


def precision_at_k(Y, S, k, weight=None):
    shares, weights = [], []
    for truth, scores, w in rows(Y, S, weight):
        shares.append(sum(truth[label] for label in ranking(scores)[:k]) / k)
        weights.append(w)
    return mean(shares, weights)


def ndcg_at_k(Y, S, k, weight=None):
    def gain(relevances):
        return sum(relevance / log2(place + 1) for place, relevance in enumerate(relevances, 1))

    values, weights = [], []
    for truth, scores, w in rows(Y, S, weight):
        best = gain(sorted(truth, reverse=True)[:k])
        values.append(gain([truth[label] for label in ranking(scores)[:k]]) / best if best else 0.0)
        weights.append(w)
    return mean(values, weights)


def log_loss(Y, S, eps, weight=None):
    losses, weights = [], []
    for truth, scores, w in rows(Y, S, weight):
        clipped = [min(max(score, eps), 1 - eps) for score in scores]
        pairs = list(zip(truth, clipped, strict=True))
        losses.append(-sum(log(p) if true else log(1 - p) for true, p in pairs) / len(pairs))
        weights.append(w)
    return mean(losses, weights)


def psp_at_k(Y, S, propensities, k, weight=None):
    gained = best = 0.0
    for truth, scores, w in rows(Y, S, weight):
        gained += w * sum(1 / propensities[label] for label in ranking(scores)[:k] if truth[label])
        gains = [1 / propensities[label] for label in true_labels(truth)]
        best += w * sum(sorted(gains, reverse=True)[:k])
    return gained / best


def propensities(Y, A=0.55, B=1.5):
    n_samples = len(Y)
    C = (log(n_samples) - 1) * (B + 1) ** A
    return [1 / (1 + C * (sum(column) + B) ** -A) for column in Y.T]


def rows(Y, S, weight):
    return zip(Y.astype(int), S, np.ones(len(Y)) if weight is None else weight, strict=True)


def mean(values, weights):
    return sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)


def with_ancestors(labels, parents):
    """A set of labels with all their ancestors."""
    found = set(labels)
    for label in labels:
        found |= with_ancestors(parents[label], parents)
    return found


def hierarchical_scores(Y_true, Y_pred, parents):
    """Micro-averaged precision, recall and F1 of labels with their ancestors."""
    n_hits = n_predicted = n_true = 0
    for true_row, predicted_row in zip(Y_true, Y_pred, strict=True):
        true = with_ancestors(np.flatnonzero(true_row).tolist(), parents)
        predicted = with_ancestors(np.flatnonzero(predicted_row).tolist(), parents)
        n_hits += len(true & predicted)
        n_predicted += len(predicted)
        n_true += len(true)
    precision = n_hits / n_predicted if n_predicted else 0.0
    recall = n_hits / n_true if n_true else 0.0
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0
