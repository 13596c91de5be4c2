//! Verifies an unpacked release before any of its files is installed, and reports the result.

use std::path::Path;

use link_installer::{
    install, intact,
    layout::Layout,
    trust::{Release, Trust, VerifyError},
    unpacked::UnpackedError,
};
use link_protocol::{command::Sha256Hex, exit_code::ExitCode, release::RefusedRelease};
use semver::Version;

use crate::{
    args::VerifyFiles,
    backend_place,
    context::Context,
    error::{CliError, chain},
    error_code::ErrorCode,
};

/// Runs `link verify-files`. `install.sh` calls it on the installed command before it downloads a
/// release, and again before it runs the downloaded one. It also refuses an older release:
/// otherwise the older program would decide about itself.
pub(super) fn run(context: &Context, arguments: &VerifyFiles) -> Result<(), CliError> {
    let VerifyFiles { from, archive, release: version, backend } = arguments;
    let layout = match backend {
        true => backend_place::layout(context),
        false => Layout::new(context.roots.clone()),
    };
    let source = Source { folder: from.as_deref(), archive: archive.as_ref() };
    let release = to_install(context, source, version, &layout)?;
    Ok(install::refuse_downgrade(&layout, &release)?)
}

/// Where the programs of a release are.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    /// The unpacked release. Without it, the installed one is meant.
    pub(super) folder: Option<&'a Path>,
    /// The checksum of the archive that the release was in.
    pub(super) archive: Option<&'a Sha256Hex>,
}

/// Verifies that the folder is the release `version`, signed by a trusted key. Without a folder,
/// verifies that the archive is the installed one and that none of its files is damaged.
///
/// # Errors
/// If verification fails or a file cannot be read. Nothing has been written then.
pub(super) fn to_install(
    context: &Context,
    Source { folder, archive }: Source<'_>,
    version: &Version,
    layout: &Layout,
) -> Result<Release, CliError> {
    if let Some(folder) = folder {
        let release = verify_programs(context, folder, version, layout.product().programs())?;
        return Ok(release.out_of(archive.cloned()));
    }
    let installed = archive.and_then(|archive| intact::release(layout, version, archive));
    installed.ok_or_else(|| {
        let message = format!("version {version} is not installed, or its files were altered");
        CliError::new(ExitCode::Failed, ErrorCode::NotIntact, message)
    })
}

fn verify_programs(
    context: &Context,
    from: &Path,
    version: &Version,
    programs: &[&'static str],
) -> Result<Release, CliError> {
    let verified = trust(context)?.verify(from, version, programs);
    let release = verified.map_err(explain)?;
    context.output.say(&if release.is_signed() {
        format!("signature of release {version} verified")
    } else {
        "the signature of the release was NOT checked: this build trusts no release key".to_owned()
    });
    Ok(release)
}

/// Returns the release keys that this build trusts.
///
/// # Errors
/// If a key of a development build is malformed.
pub(super) fn trust(context: &Context) -> Result<Trust, CliError> {
    Trust::of_this_build(context.environment.development_release_keys.as_deref()).map_err(explain)
}

pub(super) fn explain(error: VerifyError) -> CliError {
    let (code, hint) = match &error {
        VerifyError::Keys(_) => {
            (ErrorCode::SignatureInvalid, "correct LINK_DEV_RELEASE_KEYS, or use another build")
        }
        VerifyError::Refused(RefusedRelease::Target { .. }) => (
            ErrorCode::UnsupportedPlatform,
            "nothing was installed; use the archive for this system",
        ),
        VerifyError::Unpacked(UnpackedError::Read { .. }) => {
            (ErrorCode::Install, "check that this is the folder of an unpacked release")
        }
        VerifyError::Unsigned
        | VerifyError::Unpacked(
            UnpackedError::Malformed(_) | UnpackedError::NotPlain(_) | UnpackedError::TooLong(_),
        )
        | VerifyError::Refused(_) => (
            ErrorCode::SignatureInvalid,
            "nothing was installed; download the release again from its publisher",
        ),
    };
    CliError::new(error.exit_code(), code, chain(&error)).hint(hint)
}
