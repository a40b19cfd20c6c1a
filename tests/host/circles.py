#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print the circles of source files: files of one directory that call each other in a loop.

  circles.py [-v] [TREE]

Each line is a circle: its directory, and its files in alphabetical order. The directories below a
directory of user/ or kmod/ count as part of it. -v also prints the names that each file uses of
each other one. A name counts if it begins with jetwatt and one file of the directory defines it, as a
function or variable that is not static. Names that a macro makes from the rows of a table are not
seen: a table names its rows, and a row may use the table.
"""
import os
import re
import subprocess
import sys

# Comments, strings, and tags of structs, enums and unions, which may have the name of a function.
OTHER = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|(?:(?<=\bstruct)|(?<=\benum)|(?<=\bunion))\s+\w+', re.S)
START = r"^(?!static\b|typedef\b|extern\b|return\b)[a-z][\w \t*]*?\b(jetwatt\w*)"
DEFINITIONS = (re.compile(START + r"\([^;{}]*\)[^;{}()]*\{", re.M), re.compile(START + r"(?:\[[^\]]*\])*(?: =|;)", re.M))


def directories(tree):
    """Return the C files that git knows or would add, by directory of user/ and kmod/."""
    command = ["git", "-C", tree, "ls-files", "-co", "--exclude-standard", "--", "user/*.c", "kmod/*.c"]
    found = {}
    for name in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split():
        if os.path.exists(os.path.join(tree, name)):
            found.setdefault("/".join(name.split("/")[:2]), []).append(name)
    return found


def uses(tree, names):
    """Return, for each file, the names that it uses of each other file."""
    text, owner = {}, {}
    for name in names:
        with open(os.path.join(tree, name), encoding="utf-8") as f:
            text[name] = OTHER.sub(" ", f.read())
        for pattern in DEFINITIONS:
            owner.update((symbol, name) for symbol in pattern.findall(text[name]))
    found = {name: {} for name in names}
    for name in names:
        for symbol in sorted(set(re.findall(r"\w+", text[name]))):
            if owner.get(symbol, name) != name:
                found[name].setdefault(owner[symbol], []).append(symbol)
    return found


def circles(graph):
    """Return the sets of files that reach each other, as sorted lists."""
    def reach(start):
        seen, left = set(), [start]
        while left:
            new = set(graph[left.pop()]) - seen
            seen |= new
            left += new
        return seen
    far = {name: reach(name) for name in graph}
    found = {frozenset(other for other in far[name] if name in far[other]) for name in graph if name in far[name]}
    return sorted(sorted(circle) for circle in found)


def main():
    verbose = "-v" in sys.argv[1:]
    tree = ([a for a in sys.argv[1:] if a != "-v"] or ["."])[0]
    for directory, names in sorted(directories(tree).items()):
        def short(name, top=directory):
            return os.path.relpath(name, top)
        graph = uses(tree, names)
        for circle in circles(graph):
            print("%s: %s" % (directory, " ".join(map(short, circle))))
            for name in circle if verbose else ():
                for other in sorted(set(graph[name]) & set(circle)):
                    print("    %s -> %s: %s" % (short(name), short(other), " ".join(graph[name][other])))


if __name__ == "__main__":
    main()
