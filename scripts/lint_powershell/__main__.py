"""Checks scripts for Windows PowerShell 5.1 and 7 by their syntax tree, because no PowerShell runs where Link is built.

usage: lint_powershell FILE...        prints a line `FILE:LINE: RULE: what` for each finding; exits with 1 if there is one
       lint_powershell --cuts FILE    checks that no cut copy of the file runs anything
"""

import pathlib
import sys

import rules
import tree_sitter
import tree_sitter_powershell

# A cut each so many bytes, beside one at every end of a line and at every byte of the last line.
STEP = 97


def main():
    """Checks the files that the arguments name."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language()))
    if sys.argv[1] == "--cuts":
        return cuts(parser, pathlib.Path(sys.argv[2]).read_bytes())
    found = 0
    for name in sys.argv[1:]:
        contents = pathlib.Path(name).read_bytes()
        for line, rule, what in sorted(rules.check(contents, parser.parse(contents).root_node)):
            print(f"{name}:{line}: {rule}: {what}")
            found += 1
    return 1 if found else 0


def cuts(parser, contents):
    """Parses the beginnings of a script. The name of the function in the last line may be cut: nothing has that name."""
    last = contents.rstrip().rindex(b"\n") + 1
    whole = last + contents[last:].index(b";")
    ends = {*range(1, whole, STEP), *range(last, whole), *(at for at in range(whole) if contents[at] == 10)}
    for end in sorted(ends):
        root = parser.parse(contents[:end]).root_node
        runs = any(child.type not in ("function_statement", "comment") for part in root.children if part.type == "statement_list" for child in part.children)
        if runs and end <= last and not root.has_error:
            print(f"cut after {end} bytes, something runs")
            return 1
    print(f"{len(ends)} cuts, none runs anything")
    return 0


sys.exit(main())
