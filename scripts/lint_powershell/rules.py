"""The rules, each a function that yields (line, rule, what). They read nothing but the syntax tree.

A script is run by `irm ... | iex` in the window of a person, or as a file. So it must not end the session, must not leave
settings behind, must do nothing if it is cut, and must not look like malware.
"""

import itertools
import re

from known import ALIASES, AUTOMATIC, COMMANDS, COMMON, CREATED, FORBIDDEN, LITERAL, TYPES

# Small enough to be read before it is run.
MOST_LINES = 520
LONGEST_LINE = 250
# Tokens that only PowerShell 7 has.
NEW_TOKENS = {"&&": "5.1 has no &&", "||": "5.1 has no ||", "??": "5.1 has no ??", "??=": "5.1 has no ??=", "?.": "5.1 has no ?.", "?": "5.1 has no ternary"}
SECRETS = {"fleetkey", "registrationkey", "env:link_fleet_key", "env:link_registration_key"}
LAST_LINE = re.compile(rb"[A-Z][a-z]+-[A-Z][a-z]+; if \(Test-File\) \{ exit \$LASTEXITCODE \}\n\Z")


def check(contents, root):
    """Yields every finding. A file that is no script is not looked at further."""
    broken = [(line_of(node), "parse", "this is no PowerShell") for node in walk(root) if node.type == "ERROR" or node.is_missing]
    if broken:
        yield from broken[:1]
        return
    yield from text(contents)
    yield from shape(contents, root)
    yield from syntax(root)
    yield from commands(root)
    yield from types(root)
    yield from variables(root)
    yield from secrets(root)


def walk(node):
    """Yields the node and all below it, in the order of the text."""
    yield node
    for child in node.children:
        yield from walk(child)


def line_of(node):
    return node.start_point[0] + 1


def text_of(node):
    return node.text.decode("ascii", "replace")


def above(node, kind):
    """The nearest node of a kind around a node, or None."""
    while node is not None and node.type != kind:
        node = node.parent
    return node


def text(contents):
    """Windows PowerShell reads a file without a mark in the code page of the machine, so only ASCII means the same everywhere."""
    for number, line in enumerate(contents.split(b"\n"), 1):
        if not line.isascii():
            yield number, "ascii", "a character is not ASCII"
        if b"\r" in line or b"\t" in line or line.endswith(b" "):
            yield number, "space", "a tab, a carriage return or a space at the end"
        if len(line) > LONGEST_LINE and b"Write-Error" not in line and not re.search(rb"return [\"']; ", line):
            yield number, "long", f"longer than {LONGEST_LINE} characters"
    if contents.count(b"\n") > MOST_LINES:
        yield MOST_LINES, "long", f"more than {MOST_LINES} lines"


def shape(contents, root):
    """Everything but the last line defines something, and only the last line may end the process."""
    if not LAST_LINE.search(contents):
        yield contents.count(b"\n"), "shape", "the last line must call the one function, and end the process only if this file is the script that runs"
    last = contents.rstrip().count(b"\n") + 1
    lists = [child for child in root.children if child.type == "statement_list"]
    for statement in itertools.chain.from_iterable(part.children for part in lists):
        if statement.type not in ("function_statement", "comment") and line_of(statement) != last:
            yield line_of(statement), "shape", "a statement outside of a function runs even if the rest of the script is missing"
    for node in walk(root):
        if node.type == "flow_control_statement" and text_of(node).lower().startswith("exit") and line_of(node) != last:
            yield line_of(node), "exit", "`exit` closes the window of a person who runs the script with iex"
    body = text_of(root)
    for wanted in ("Set-StrictMode -Version 3.0", "$ErrorActionPreference = 'Stop'", "LanguageMode -ne 'FullLanguage'"):
        if wanted not in body:
            yield 1, "strict", f"`{wanted}` is missing"


def syntax(root):
    """Operators and statements that 5.1 does not have or that leave something behind."""
    for node in walk(root):
        kind = text_of(node) if not node.children else ""
        if kind in NEW_TOKENS and above(node, "comment") is None and above(node, "string_literal") is None:
            yield line_of(node), "new", NEW_TOKENS[kind]
        if node.type in ("ternary_expression", "null_coalesce_expression") and len(node.children) > 1:
            yield line_of(node), "new", "5.1 has no such operator"
        if node.type in ("class_statement", "enum_statement", "using_statement", "trap_statement", "data_statement"):
            yield line_of(node), "new", f"a {node.type.replace('_', ' ')} is not for a script that iex runs"
        if node.type == "redirection":
            function = above(node, "function_statement")
            if function is None or "$ErrorActionPreference = 'Continue'" not in text_of(function):
                yield line_of(node), "redirect", "5.1 makes an exception of each redirected line on stderr unless $ErrorActionPreference is 'Continue' in the function"
        if node.type == "assignment_expression" and re.match(r"\$(global|script):(?!LASTEXITCODE\b)", text_of(node)):
            yield line_of(node), "global", "a variable outside of the function stays in the session"


def commands(root):
    """Commands must be ours, or known with their parameters; never an alias or an abbreviation."""
    ours = {text_of(node).lower() for node in walk(root) if node.type == "function_name"}
    for node in (node for node in walk(root) if node.type == "command"):
        name_node = node.child_by_field_name("command_name")
        name = text_of(name_node).lower() if name_node else ""
        parameters = [text_of(child).lstrip("-").rstrip(":").lower() for child in walk(node) if child.type == "command_parameter" and above(child, "command") == node]
        for parameter in parameters:
            if parameter in ("executionpolicy", "windowstyle", "encodedcommand", "verb"):
                yield line_of(node), "malware", f"-{parameter} is what malware uses"
        if text_of(node).lstrip().startswith((". ", "& ")):
            if not name.startswith("$") or text_of(node).lstrip().startswith(". "):
                yield line_of(node), "command", "only a program whose path is in a variable may be called"
            continue
        if name in FORBIDDEN:
            yield line_of(node), "forbidden", f"{name} {FORBIDDEN[name]}"
        elif name in ALIASES:
            yield line_of(node), "alias", f"`{name}` is an alias, which a profile may have changed"
        elif name not in ours and name not in COMMANDS:
            yield line_of(node), "command", f"`{name}` is not known in 5.1: add it to known.py if it is"
        elif name in COMMANDS:
            for parameter in parameters:
                if parameter not in COMMANDS[name] | COMMON:
                    yield line_of(node), "parameter", f"{name} -{parameter} is not known in 5.1: add it to known.py if it is"
            if name in LITERAL and "literalpath" not in parameters:
                yield line_of(node), "literal", f"{name} without -LiteralPath reads `[` in a path as a pattern"
            if name == "new-object":
                created = text_of(node).split()[1].split("(")[0].lower()
                if created not in CREATED:
                    yield line_of(node), "type", f"`{created}` is not known to be in both .NET Framework and .NET: add it to known.py if it is"


def types(root):
    """Types must be in .NET Framework and in .NET."""
    for node in walk(root):
        if node.type == "type_literal":
            name = text_of(node).strip("[]").lower()
            name += "[]" if text_of(node).endswith("[]]") else ""
            if name.removeprefix("system.") not in TYPES:
                yield line_of(node), "type", f"`{name}` is not known to be in both .NET Framework and .NET: add it to known.py if it is"


def variables(root):
    """Strict mode stops at a variable that nothing sets, which a misspelt name is."""
    used, known = [], set(AUTOMATIC)
    for node in walk(root):
        if node.type != "variable":
            continue
        name = re.sub(r"^[$@]\{?|\}$", "", text_of(node)).lower()
        loop = node.parent.type == "foreach_statement" and node == next(child for child in node.parent.children if child.type == "variable")
        if loop or node.parent.type == "script_parameter" or above(node, "left_assignment_expression") is not None:
            known.add(name)
        used.append((line_of(node), name))
    for line, name in used:
        if name not in known and not name.startswith("env:"):
            yield line, "variable", f"${name} is set nowhere"


def secrets(root):
    """Other users of the machine can read the arguments of a program; a message stays in a log."""
    for node in walk(root):
        if node.type == "variable" and re.sub(r"^[$@]\{?|\}$", "", text_of(node)).lower() in SECRETS:
            if above(node, "command") is not None or above(node, "string_literal") is not None or above(node, "array_expression") is not None:
                yield line_of(node), "secret", f"{text_of(node)} is an argument or part of a text"
