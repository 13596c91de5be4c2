//! The current routes of one port. The port changes the routes, and its connections read them.

use std::sync::{Arc, PoisonError, RwLock};

use link_protocol::id::PipelineId;

use super::route::Live;

/// The routes of a port, shared by all clones. A request keeps the list that it read.
#[derive(Clone, Debug, Default)]
pub(super) struct RouteTable(Arc<RwLock<Arc<Vec<Live>>>>);

impl RouteTable {
    /// Adds a route, or replaces the route of the same pipeline.
    pub(super) fn set(&self, live: Live) {
        self.change(|routes| {
            let id = live.route.pipeline_id;
            match routes.iter_mut().find(|other| other.route.pipeline_id == id) {
                Some(other) => *other = live,
                None => routes.push(live),
            }
        });
    }

    /// Removes the route of a pipeline; returns true if none is left.
    pub(super) fn remove(&self, pipeline: PipelineId) -> bool {
        self.change(|routes| {
            routes.retain(|live| live.route.pipeline_id != pipeline);
            routes.is_empty()
        })
    }

    /// Returns whether a pipeline has a route here.
    pub(super) fn serves(&self, pipeline: PipelineId) -> bool {
        self.read().iter().any(|live| live.route.pipeline_id == pipeline)
    }

    /// Returns the current list.
    pub(super) fn read(&self) -> Arc<Vec<Live>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<Live>) -> T) -> T {
        let mut routes = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = routes.as_ref().clone();
        let result = change(&mut changed);
        *routes = Arc::new(changed);
        result
    }
}
