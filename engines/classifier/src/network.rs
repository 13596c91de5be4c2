//! A network in ONNX Runtime, whose library is loaded when the program starts.
//!
//! One environment for each process, one inference at a time. An inference that was aborted ends at the next operator.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::Context as _;
use ort::{
    environment::Environment,
    logging::LogLevel,
    session::{RunOptions, Session},
    value::{Outlet, TensorElementType, TensorRef, ValueType},
};

use crate::refusal::Refusal;

/// Numbers with their shape, for the input of this name.
#[derive(Clone, Copy, Debug)]
pub struct Tensor<'a> {
    pub name: &'a str,
    pub shape: &'a [usize],
    /// As many numbers as the shape has places.
    pub numbers: &'a [f32],
}

/// A network that is ready to run.
#[derive(Debug)]
pub struct Network {
    session: Session,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
}

/// An input or an output of a network.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Port {
    pub name: String,
    /// -1 stands for a size that is not fixed. Nothing if this is no tensor of 32-bit numbers.
    pub shape: Option<Vec<i64>>,
}

/// The right to abort one inference. Clones abort the same one.
#[derive(Clone)]
pub struct Cancel {
    aborted: Arc<AtomicBool>,
    options: Option<Arc<RunOptions>>,
}

impl Network {
    /// Reads a network from its bytes. `threads` compute at the same time.
    ///
    /// # Errors
    /// If ONNX Runtime refuses the network.
    pub fn load(environment: &Environment, bytes: &[u8], threads: usize) -> anyhow::Result<Self> {
        let session = Session::builder(environment)
            .and_then(|builder| Ok(builder.with_intra_threads(threads)?))
            .and_then(|builder| Ok(builder.with_inter_threads(1)?))
            // Threads that wait must not take the processor from the other engines of the machine.
            .and_then(|builder| Ok(builder.with_intra_op_spinning(false)?))
            .and_then(|builder| Ok(builder.with_log_level(LogLevel::Error)?))
            .and_then(|mut builder| builder.commit_from_memory(bytes))
            .context("ONNX Runtime refuses the network of the model")?;
        let inputs = session.inputs().iter().map(port).collect();
        let outputs = session.outputs().iter().map(port).collect();
        Ok(Self { session, inputs, outputs })
    }

    /// Returns the value of a key in the network's own metadata.
    #[must_use]
    pub fn metadata(&self, key: &str) -> Option<String> {
        self.session.metadata().ok()?.custom(key)
    }

    /// Returns the inputs.
    #[must_use]
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// Returns the outputs.
    #[must_use]
    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// Runs the network on `inputs` and returns the numbers of the `outputs`, in this order.
    ///
    /// # Errors
    /// If the run fails or was aborted, or an output is no tensor of 32-bit numbers.
    pub fn run(
        &mut self,
        inputs: &[Tensor<'_>],
        outputs: &[&str],
        cancel: &Cancel,
    ) -> Result<Vec<Vec<f32>>, Refusal> {
        cancel.check()?;
        match self.try_run(inputs, outputs, cancel) {
            Ok(numbers) => Ok(numbers),
            Err(_aborted) if cancel.is_aborted() => Err(Refusal::timed_out()),
            Err(fault) => Err(Refusal::failed(format!("The network failed: {fault}"))),
        }
    }

    fn try_run(
        &mut self,
        inputs: &[Tensor<'_>],
        outputs: &[&str],
        cancel: &Cancel,
    ) -> ort::Result<Vec<Vec<f32>>> {
        let mut values = Vec::new();
        for input in inputs {
            let value = TensorRef::from_array_view((input.shape.to_vec(), input.numbers))?;
            values.push((Cow::Borrowed(input.name), value));
        }
        let fresh;
        let options = if let Some(options) = &cancel.options {
            options
        } else {
            fresh = Arc::new(RunOptions::new()?);
            &fresh
        };
        let results = self.session.run_with_options(values, options)?;
        let mut found = Vec::new();
        for name in outputs {
            let value = results
                .get(name)
                .ok_or_else(|| ort::Error::new(format!("there is no output `{name}`")))?;
            found.push(value.try_extract_tensor::<f32>()?.1.to_vec());
        }
        Ok(found)
    }
}

impl Cancel {
    /// Creates the right to abort an inference that has not started. Needs the library of ONNX Runtime.
    #[must_use]
    pub fn new() -> Self {
        let options = RunOptions::new().ok().map(Arc::new);
        Self { aborted: Arc::default(), options }
    }

    /// Aborts the inference.
    pub fn abort(&self) {
        self.aborted.store(true, Ordering::Release);
        if let Some(options) = &self.options {
            // A run that cannot be told to end is awaited, like one that has just ended.
            let _refused = options.terminate();
        }
    }

    /// Returns whether the inference was aborted.
    #[must_use]
    pub fn is_aborted(&self) -> bool {
        self.aborted.load(Ordering::Acquire)
    }

    /// Checks that the inference may go on. Long work between two runs calls this often.
    ///
    /// # Errors
    /// If the inference was aborted.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.is_aborted() { Err(Refusal::timed_out()) } else { Ok(()) }
    }
}

impl Default for Cancel {
    fn default() -> Self {
        Self::new()
    }
}

fn port(outlet: &Outlet) -> Port {
    let shape =
        if let ValueType::Tensor { ty: TensorElementType::Float32, shape, .. } = outlet.dtype() {
            Some(shape.iter().copied().collect())
        } else {
            None
        };
    Port { name: outlet.name().to_owned(), shape }
}
