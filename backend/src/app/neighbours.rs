//! Wakes the tasks that wait for a device or a command, in this backend and in others on the same
//! database.

use link_protocol::id::{CommandId, DeviceId};

use crate::{app::App, database::Ring};

impl App {
    /// Wakes the task that sends commands to a device.
    pub(super) fn ring_device(&self, device: DeviceId) {
        self.polls.ring(device);
        self.store.tell_neighbours(Ring::Device(device));
    }

    /// Wakes the tasks that wait for the outcome of a command.
    pub(super) fn ring_command(&self, command: CommandId) {
        self.results.ring(command);
        self.store.tell_neighbours(Ring::Command(command));
    }

    /// Wakes tasks in this process when other backends on the database ring, until the store is
    /// closed.
    pub async fn heed_neighbours(&self) {
        let heard = |ring| match ring {
            Ring::Device(device) => self.polls.ring(device),
            Ring::Command(command) => self.results.ring(command),
            Ring::All => {
                self.polls.stir_all();
                self.results.stir_all();
            }
        };
        self.store.heed_neighbours(heard).await;
    }
}
