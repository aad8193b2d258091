//! Legal holds on grains.

use grainstore::store::Authorization;
use napi::bindgen_prelude::Result;
use napi_derive::napi;

use crate::ask::{Abort, Promised};
use crate::store::Store;
use crate::value::address;

/// A legal hold on a grain.
#[napi(object, object_from_js = false)]
pub struct Hold {
    pub address: String,
    /// When it was placed, in milliseconds since 1970.
    pub since: i64,
    pub reason: String,
    pub authority: String,
}

#[napi]
impl Store {
    #[napi(ts_return_type = "Promise<void>")]
    pub fn place_hold(
        &self,
        of: String,
        reason: String,
        authority: String,
        abort: Option<&Abort>,
    ) -> Result<Promised<()>> {
        let address = address(&of)?;
        Ok(self.ask(abort, move |store| {
            let by = Authorization {
                reason: &reason,
                authority: &authority,
            };
            store.admin()?.place_hold(&address, by)
        }))
    }

    #[napi(ts_return_type = "Promise<boolean>")]
    pub fn lift_hold(
        &self,
        of: String,
        reason: String,
        authority: String,
        abort: Option<&Abort>,
    ) -> Result<Promised<bool>> {
        let address = address(&of)?;
        Ok(self.ask(abort, move |store| {
            let by = Authorization {
                reason: &reason,
                authority: &authority,
            };
            store.admin()?.lift_hold(&address, by)
        }))
    }

    #[napi(ts_return_type = "Promise<Hold[]>")]
    pub fn holds(&self, abort: Option<&Abort>) -> Promised<Vec<Hold>> {
        self.ask(abort, |store| {
            let holds = store.admin()?.holds().into_iter();
            let holds = holds.map(|hold| Hold {
                address: hold.address.to_string(),
                since: hold.since.ms(),
                reason: hold.authorization.reason,
                authority: hold.authorization.authority,
            });
            Ok(holds.collect())
        })
    }
}
