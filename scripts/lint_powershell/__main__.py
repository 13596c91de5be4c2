"""Checks scripts for Windows PowerShell 5.1 and 7 by their syntax tree, because no PowerShell runs where Link is built.

usage: lint_powershell FILE...   prints a line `FILE:LINE: RULE: what` for each finding; exits with 1 if there is one
"""

import pathlib
import sys

import rules
import tree_sitter
import tree_sitter_powershell


def main():
    """Checks the files that the arguments name."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language()))
    found = 0
    for name in sys.argv[1:]:
        contents = pathlib.Path(name).read_bytes()
        for line, rule, what in sorted(rules.check(contents, parser.parse(contents).root_node)):
            print(f"{name}:{line}: {rule}: {what}")
            found += 1
    return 1 if found else 0


sys.exit(main())
