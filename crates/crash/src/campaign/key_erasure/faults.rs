//! Each operation of an erasure fails in turn, and the disk is full: the erasure is done or not done,
//! and repeating it completes it.

use std::io::ErrorKind;

use grainstore::vault::Vault;

use crate::disk::fault::{Fault, How, Lasts, Side};
use crate::disk::image::Image;
use crate::disk::sim_disk::SimDisk;
use crate::workload::oracle::Verdict;

use super::attacker::{Target, recovered};
use super::workload::{STORE, add, files, master, source};

/// Erases two of ten persons once for each way in which each operation can fail; returns how often.
///
/// # Errors
/// The fault, and what went wrong after it.
pub fn key_erasure_faults(every: usize) -> Result<usize, String> {
    let (disk, persons) = prepared()?;
    let image = disk.image();
    let count = {
        let disk = SimDisk::new(&image);
        let vault = open(&disk)?;
        disk.fail(None);
        let erased = vault.erase(&master(), &ERASED);
        erased.map_err(|error| error.to_string())?;
        disk.count(Side::Write)
    };
    let mut runs = 0;
    for at in (0..count).step_by(every) {
        for how in [How::NotApplied, How::Applied, How::Half] {
            for kind in [ErrorKind::Other, ErrorKind::StorageFull] {
                for lasts in [Lasts::Once, Lasts::Operations(3)] {
                    let side = Side::Write;
                    let fault = Fault {
                        side,
                        at,
                        lasts,
                        how,
                        kind,
                    };
                    let outcome = survive(&image, &persons, fault);
                    outcome.map_err(|what| format!("{fault}: {what}"))?;
                    runs += 1;
                }
            }
        }
    }
    Ok(runs)
}

fn prepared() -> Verdict<(SimDisk, Vec<Target>)> {
    let disk = SimDisk::new(&Image::default());
    let failed = |error: grainstore::vault::Error| error.to_string();
    let (vault, master) = Vault::create(files(&disk, 1, false), &source()).map_err(failed)?;
    let names: Vec<String> = (0..10).map(|n| format!("person {n}")).collect();
    let persons = add(&vault, &master, &names)?;
    drop(vault);
    Ok((disk, persons))
}

fn open(disk: &SimDisk) -> Verdict<Vault> {
    let vault = Vault::open(files(disk, 2, false)).map_err(|error| error.to_string())?;
    vault.ok_or_else(|| "the vault is gone".into())
}

fn survive(image: &Image, persons: &[Target], fault: Fault) -> Verdict {
    let master = master();
    let disk = SimDisk::new(image);
    let vault = open(&disk)?;
    disk.fail(Some(fault));
    let outcome = vault.erase(&master, &ERASED);
    disk.fail(None);
    let failed = |error: grainstore::vault::Error| format!("after the fault: {error}");
    let left = vault.list(&master).map_err(failed)?.len();
    match (outcome, left) {
        (Ok(_), 8) => {}
        (Err(_), 8) => {}
        (Err(_), 10) => {
            vault.erase(&master, &ERASED).map_err(failed)?;
        }
        (outcome, left) => return Err(format!("{left} are left after {outcome:?}")),
    }
    let erased: Vec<&Target> = persons
        .iter()
        .filter(|it| ERASED.contains(&&*it.user))
        .collect();
    for target in &erased {
        let receipt = vault.erased(&target.uid).map_err(failed)?;
        receipt.ok_or("an erasure without a receipt")?;
    }
    drop(vault);
    let leaked = recovered(&disk.image().bytes(), STORE, &master, &erased);
    if !leaked.is_empty() {
        return Err(format!("the keys of {leaked:?} can be recovered"));
    }
    let vault = open(&disk)?;
    match vault.check(&master).map_err(failed)? {
        8 => Ok(()),
        left => Err(format!("{left} are left when it is opened again")),
    }
}

const ERASED: [&str; 2] = ["person 3", "person 7"];
