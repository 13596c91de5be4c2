//! An example of a `--help`: the state that it needs, how it runs, and its outcome.

/// An example.
#[derive(Clone, Copy)]
pub(super) struct Example {
    /// The text in the help.
    pub(super) line: &'static str,
    /// The shell script that creates the state that the example needs.
    pub(super) after: &'static str,
    /// Texts that stand for something else on each machine, each with the shell script that prints the value.
    pub(super) given: &'static [(&'static str, &'static str)],
    /// The home in which the example runs: that of `you`, unless it is another person's.
    pub(super) home: &'static str,
    pub(super) way: Way,
    /// A text that the example prints.
    pub(super) shows: &'static str,
}

/// How an example runs.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// In a script, until it ends.
    Script,
    /// On a terminal, where a person waits for each text and types the keys after it. Keys that begin with `<` name a
    /// file: its first line is typed.
    Terminal(&'static [(&'static str, &'static str)]),
    /// Until it has printed its text. Then it gets Ctrl-C.
    Interrupted,
}

/// Describes an example that succeeds in a script.
pub(super) const fn example(line: &'static str) -> Example {
    let (after, given, home, shows) = ("", &[], "you", "");
    Example { line, after, given, home, way: Way::Script, shows }
}

impl Example {
    /// Runs `script` before the example.
    pub(super) const fn after(self, script: &'static str) -> Self {
        Self { after: script, ..self }
    }

    /// Runs the example in the home of `person`.
    pub(super) const fn of(self, person: &'static str) -> Self {
        Self { home: person, ..self }
    }

    /// Replaces texts of the example with the output of scripts.
    pub(super) const fn given(self, texts: &'static [(&'static str, &'static str)]) -> Self {
        Self { given: texts, ..self }
    }

    /// Runs the example on a terminal.
    pub(super) const fn typed(self, keys: &'static [(&'static str, &'static str)]) -> Self {
        Self { way: Way::Terminal(keys), ..self }
    }

    /// Ends the example with Ctrl-C once it has printed its text.
    pub(super) const fn interrupted(self) -> Self {
        Self { way: Way::Interrupted, ..self }
    }

    /// Expects `text` in the output.
    pub(super) const fn shows(self, text: &'static str) -> Self {
        Self { shows: text, ..self }
    }
}
