//! One wish for each of several devices: a request each, a bar, and a summary of what became of
//! them. The command fails when any of them did.

use std::time::Duration;

use link_client::backend::BackendClient;
use link_protocol::{backend_api::device::Device, exit_code::ExitCode, selector::Selector};
use serde_json::json;

use crate::{
    context::Context, error::CliError, error_code::ErrorCode, output, progress::Progress,
    wait::Deadline,
};

/// Where the wish of one device is.
pub(super) enum Step<T> {
    Running(T),
    /// It ended well; the text says how.
    Done(String),
}

struct Job<T> {
    device: Device,
    step: Result<Step<T>, CliError>,
}

/// Returns the devices that are meant.
///
/// # Errors
/// When there are none.
pub(super) async fn select(
    backend: &BackendClient,
    selector: &Selector,
) -> Result<Vec<Device>, CliError> {
    let devices = backend.selected_devices(selector).await?;
    if devices.is_empty() {
        let message = format!("no device fits `{selector}`");
        return Err(CliError::new(ExitCode::Failed, ErrorCode::NothingSelected, message)
            .hint("see which there are with `link device list` and `link fleet list`"));
    }
    Ok(devices)
}

/// Sends a wish to each of `devices` and, with `patience`, looks at each until it has ended.
///
/// # Errors
/// When it failed on any device.
pub(super) async fn run<T>(
    context: &Context,
    what: &str,
    devices: Vec<Device>,
    patience: Option<Duration>,
    send: impl AsyncFn(&Device) -> Result<T, CliError>,
    look: impl AsyncFn(T) -> Result<Step<T>, CliError>,
) -> Result<(), CliError> {
    let total = devices.len();
    let progress = Progress::start(context.output);
    let mut jobs = Vec::with_capacity(total);
    for device in devices {
        progress.show_count(&format!("{what}: sending"), jobs.len(), total);
        let step = send(&device).await.map(Step::Running);
        jobs.push(Job { device, step });
    }
    if let Some(patience) = patience {
        let deadline = Deadline::after(patience);
        loop {
            let mut running = 0;
            for job in &mut jobs {
                if let Ok(Step::Running(_)) = &job.step
                    && let Ok(Step::Running(state)) =
                        std::mem::replace(&mut job.step, Ok(Step::Done(String::new())))
                {
                    job.step = look(state).await;
                    running += usize::from(matches!(job.step, Ok(Step::Running(_))));
                }
            }
            progress.show_count(&format!("{what}: done"), total - running, total);
            if running == 0 {
                break;
            }
            if !deadline.pause(None).await {
                for job in &mut jobs {
                    if matches!(job.step, Ok(Step::Running(_))) {
                        job.step = Err(deadline.gave_up("the device has not done it"));
                    }
                }
                break;
            }
        }
    }
    progress.finish();
    summarize(context, what, &jobs)
}

fn summarize<T>(context: &Context, what: &str, jobs: &[Job<T>]) -> Result<(), CliError> {
    let rows: Vec<[String; 4]> = jobs.iter().map(row).collect();
    let failed = jobs.iter().filter(|job| job.step.is_err()).count();
    let entries: Vec<_> = jobs
        .iter()
        .zip(&rows)
        .map(|(job, [_, result, detail, _])| {
            json!({
                "device_id": job.device.device_id, "name": job.device.name,
                "ok": job.step.is_ok(), "result": result, "detail": detail,
            })
        })
        .collect();
    let document = json!({"devices": entries, "failed": failed});
    context
        .output
        .data(&document, |_| output::table(["DEVICE", "RESULT", "DETAIL", "ID"], rows))?;
    if failed == 0 {
        return Ok(());
    }
    let message = format!("{what}: failed on {failed} of {} devices", jobs.len());
    let is_superseded =
        |job: &Job<T>| job.step.as_ref().is_err_and(|error| error.is(ErrorCode::Superseded));
    let hint = if jobs.iter().any(is_superseded) {
        "correct the causes and send it again to those devices alone; where it was superseded, the \
         newer command counts"
    } else {
        "correct the causes and send it again; what was done stays done"
    };
    Err(CliError::new(ExitCode::Failed, ErrorCode::SomeFailed, message).hint(hint))
}

fn row<T>(job: &Job<T>) -> [String; 4] {
    let (result, detail) = match &job.step {
        Ok(Step::Running(_)) => ("sent".to_owned(), String::new()),
        Ok(Step::Done(detail)) => ("done".to_owned(), detail.clone()),
        Err(error) => (error.code.as_str().to_owned(), error.message.clone()),
    };
    [job.device.name.clone(), result, detail, job.device.device_id.to_string()]
}
