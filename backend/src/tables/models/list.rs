//! Lists of models: those that an account owns, that are shared with it, or that are on its devices.

use link_protocol::{backend_api::model::ModelSort, id::AccountId};

use crate::{
    database::{Store, StoreError, read, sql},
    domain::{
        list_order::{Order as _, Place},
        model::ModelRecord,
        sharing::Publishers,
    },
    tables::{models::ModelRow, paging::begin, search::named},
};

/// Which models are listed, and in which order.
#[derive(Clone, Debug, Default)]
pub struct ModelList {
    /// A part of the name, or the beginning of the id.
    pub q: Option<String>,
    pub sort: ModelSort,
}

/// The statement for an order: how the page compares to the place after which it starts, and what it is ordered by. All ids have the
/// same length, so LIKE matches only whole ids in the joined text.
macro_rules! listed {
    ($after:expr, $order:expr) => {
        concat!(
            "SELECT models.*, accounts.name AS publisher FROM models \
             JOIN accounts ON accounts.account_id = models.account_id \
             WHERE (models.account_id = $1 \
             OR (models.shared AND $4 LIKE '%' || models.account_id || '%') \
             OR EXISTS (SELECT 1 FROM deployments p WHERE p.account_id = $1 \
             AND p.model_id = models.model_id AND p.state = 'completed' AND NOT p.removed)) \
             AND ",
            $after,
            " AND ($6 = '' OR ",
            named!("models.name", "models.model_id", "$6", "$7"),
            ") ORDER BY ",
            $order,
            " LIMIT $3"
        )
    };
}

/// The statement for an order by a key, then by the id. Without a place, the page starts at the beginning.
macro_rules! sorted {
    ($key:literal, $place:literal, $after:literal, $direction:literal) => {
        listed!(
            concat!("($2 = '' OR (", $key, ", models.model_id) ", $after, " (", $place, ", $2))"),
            concat!($key, $direction, ", models.model_id", $direction)
        )
    };
}

const fn statement(sort: ModelSort) -> &'static str {
    match sort {
        ModelSort::Newest => {
            listed!("models.model_id < $2", "models.model_id DESC")
        }
        ModelSort::Oldest => listed!("models.model_id > $2", "models.model_id"),
        ModelSort::Name => sorted!("lower(models.name)", "lower($5)", ">", ""),
        ModelSort::NameDescending => sorted!("lower(models.name)", "lower($5)", "<", " DESC"),
        ModelSort::Size => {
            sorted!("coalesce(models.size_bytes, 0)", "CAST($5 AS BIGINT)", ">", "")
        }
        ModelSort::SizeDescending => {
            sorted!("coalesce(models.size_bytes, 0)", "CAST($5 AS BIGINT)", "<", " DESC")
        }
    }
}

impl Store {
    /// Lists models that an account owns, that `publishers` share, or that are on a device of the account, at most `limit` of them after
    /// a place.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn models(
        &self,
        account: AccountId,
        publishers: &Publishers,
        asked: &ModelList,
        after: Option<&Place<ModelSort>>,
        limit: u32,
    ) -> Result<Vec<ModelRecord>, StoreError> {
        let q = asked.q.as_deref().unwrap_or_default();
        let id = after.map(|place| place.id.to_string());
        let begin = match asked.sort.is_newest() {
            true => begin(id.as_ref()).to_owned(),
            false => id.unwrap_or_default(),
        };
        let rows: Vec<ModelRow> = read!(self, |db| {
            sql::query_as(statement(asked.sort))
                .bind(account.to_string())
                .bind(&begin)
                .bind(i64::from(limit))
                .bind(publishers.ids())
                // A key is a name or a number; without a place, it is not compared.
                .bind(after.map_or("0", |place| &place.key))
                .bind(q)
                .bind(q.to_lowercase())
                .maybe_slow()
                .fetch_all(db)
                .await?
        });
        rows.into_iter().map(ModelRecord::try_from).collect()
    }
}
