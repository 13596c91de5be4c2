//! An account with a device that is online and a model, the beginning of many stories.

use crate::harness::{Device, World};

/// A model and the device that it is for.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) user: String,
    pub(crate) device: Device,
    pub(crate) model: String,
}

impl Scene {
    /// A device without the model, in the world of this user.
    pub(crate) async fn empty((world, user): (World, String)) -> Self {
        let device = world.online_device(&user).await;
        let model = world.model(&user, false).await;
        Self { world, user, device, model }
    }

    /// A device with the model, in the world of this user.
    pub(crate) async fn deployed(of: (World, String)) -> Self {
        let scene = Self::empty(of).await;
        scene.world.deployed(&scene.user, &scene.device, &scene.model).await;
        scene
    }
}
