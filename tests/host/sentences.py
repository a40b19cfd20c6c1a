#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draw sentences from comments, man pages, documentation and messages, for a reader.

    tests/host/sentences.py [-n N] [-s SEED] [DIRECTORY|FILE]...

Each line of output is FILE:LINE: SENTENCE. The same seed draws the same sentences of the same
tree. A reader who knows only the sentence and its file says what it means; a sentence that the
reader gets wrong is rewritten. Without N, all sentences are printed in the order of the tree.
"""
import argparse
import random
import re
import subprocess
import sys

TREE = ["kmod", "bpf", "include", "user", "tests", "man", "doc", "README.md"]
SOURCE = re.compile(r"\.(c|h|inc|dtsi?|dtso)$")
# A comment, or a string literal: a "/*" inside a string begins no comment.
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
# A string literal that begins an SQL statement.
SQL = re.compile(r'"\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA|BEGIN|COMMIT|ROLLBACK)\b')
SHORT = 5		# words; shorter ones are labels and units


def sentences(text, line):
    """Split a text whose lines are kept; yield (line, sentence)."""
    for m in re.finditer(r"(?:(?!\n[ \t]*\n|\f).)+", text, re.S):
        paragraph = m.group(0)
        start = line + text[:m.start()].count("\n")
        at = 0
        for end in re.finditer(r"[.:;?!](?=\s+[A-Z@\"(]|\s*$)", paragraph):
            yield from one(paragraph[at:end.end()], start + paragraph[:at].count("\n"))
            at = end.end()
        yield from one(paragraph[at:], start + paragraph[:at].count("\n"))


def one(sentence, line):
    line += sentence[:len(sentence) - len(sentence.lstrip())].count("\n")
    sentence = " ".join(sentence.split())
    # Paths, formats and names of man pages are not words, so a list of them is no sentence.
    words = re.sub(r"\S*[/.]\w\S*|%[-\w.]+|\S+ ?\(\d\)", "", sentence)
    if len(re.findall(r"\b[A-Z]?[a-z]{2,}\b", words)) >= SHORT:
        yield line, sentence


def comment(token):
    """The text of a comment, with as many lines as it has."""
    if token.startswith("//"):
        token = token[2:]
        return "" if "SPDX" in token else token
    token = re.sub(r"^/\*+|\*/$", "", token)
    token = re.sub(r"(?m)^[ \t]*\*[ \t]?", "", token)
    # A kernel-doc line for parameters, a row of a table and a heading are paragraphs of their own.
    if "\n" in token:
        token = re.sub(r"(?m)^(@\w+(?:, @\w+)*:|Return:|Context:|\t.*\S(?:\t| {3,})\S)", r"\f\1",
                       token)
        token = re.sub(r"(?m)^-{3,}$", "\f", token)
    return "" if "SPDX" in token else token


def from_source(text):
    sql = None		# end of the literal before, if it is part of an SQL statement
    for m in TOKEN.finditer(text):
        # Literals that follow, perhaps after a macro, continue the statement.
        if SQL.match(m.group(0)) or (sql is not None and m.group(0).startswith('"') and
                                     re.fullmatch(r"[\sA-Z_]*", text[sql:m.start()])):
            sql = m.end()
            continue
        sql = None
        line = text.count("\n", 0, m.start()) + 1
        token = m.group(0)
        if re.match(r"/[/*]\s*guest: ", token):
            continue	# settings of a test
        if token.startswith("/"):
            yield from sentences(comment(token), line)
        elif token.startswith('"'):
            message = re.sub(r"\\[nt]|%%", " ", token[1:-1])
            # Skip literals that are data or markup.
            if not re.search(r"[{}<>=;\\]|/\w+/|#[0-9a-f]{6}", message):
                yield from one(message, line)


def from_script(text):
    for m in re.finditer(r"(?m)(?:^[ \t]*#(?!!).*\n)+", text):
        body = re.sub(r"(?m)^[ \t]*# ?", "", m.group(0))
        body = re.sub(r"(?m)^guest: .*", "", body)	# settings of a test
        if "SPDX" not in body or "\n" in body.strip():
            body = re.sub(r"SPDX.*", "", body)
            yield from sentences(body, text.count("\n", 0, m.start()) + 1)


def from_man(text):
    body = []
    literal = tag = False
    for row in text.split("\n"):
        was_tag, tag = tag, row.startswith(".TP")
        if re.match(r"\.(nf|EX)", row):
            literal = True
        elif re.match(r"\.(fi|EE)", row):
            literal = False
        if literal or row.startswith(".\\\"") or re.match(r"\.(SH|SS|TH|TP|PP|IP|RS|RE|br|nf|fi|EX|EE)", row):
            row = ""
        row = re.sub(r"^\.(BR|RB|BI|IB|IR|RI|B|I) ", "", row)
        row = re.sub(r"\\f.|\\&", "", row).replace("\\-", "-").replace("\\(em", "-").replace('"', "")
        # The tag of a paragraph belongs to its first sentence.
        body.append(row + ":" if was_tag and row else row)
    yield from sentences("\n".join(body), 1)


def from_markdown(text):
    text = re.sub(r"(?ms)^```.*?^```", lambda m: "\n" * m.group(0).count("\n"), text)
    text = re.sub(r"(?m)^(    |#).*", "", text)
    text = re.sub(r"[*`]|\]\([^)]*\)|\[", "", text)
    # A cell of a table is shown with its row and its column.
    for table in re.finditer(r"(?m)(?:^\|.*\|\n)+", text):
        head = None
        for m in re.finditer(r"(?m)^\|(.*)\|$", table.group(0)):
            cells = [cell.strip() for cell in m.group(1).split("|")]
            line = text.count("\n", 0, table.start() + m.start()) + 1
            if not "".join(cells).strip("-:"):
                continue
            for i, cell in enumerate(cells if head else []):
                column = head[i] if i < len(head) else ""
                place = "[%s | %s]" % (cells[0], column) if i else "[%s]" % column
                for at, sentence in sentences(cell, line):
                    yield at, place + " " + sentence
            head = head or cells
    text = re.sub(r"(?m)^(\|.*)$", "", text)
    # An item of a list is a paragraph of its own.
    items = re.split(r"(?m)^(?=(?:[-+]|\d+\.) )", text)
    line = 1
    for item in items:
        yield from sentences(item, line)
        line += item.count("\n")


def of_file(path, text):
    if SOURCE.search(path) and not text.startswith("#!") and not text.startswith("# SPDX"):
        return from_source(text)
    if re.search(r"\.[1-8]$", path):
        return from_man(text)
    if path.endswith(".md"):
        return from_markdown(text)
    return from_script(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-n", type=int, help="number of sentences (default: all)")
    parser.add_argument("-s", "--seed", type=int, default=1)
    parser.add_argument("path", nargs="*", default=TREE)
    args = parser.parse_args()
    files = subprocess.run(["git", "ls-files", "--", *args.path], capture_output=True, text=True,
                           check=True).stdout.split("\n")
    found = []
    for path in filter(None, files):
        try:
            with open(path, encoding="utf-8") as f:
                text = f.read()
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        found += [(path, line, s) for line, s in of_file(path, text)]
    if args.n is not None:
        found = random.Random(args.seed).sample(found, min(args.n, len(found)))
    for path, line, sentence in found:
        print("%s:%d: %s" % (path, line, sentence))
    return 0 if found else 1


sys.exit(main())
