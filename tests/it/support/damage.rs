//! A bit that flips on a disk, below everything that keeps records whole.

use std::io;

use errand::store::{Disk as _, StorageBackend};
use redb::ReadableTable as _;

use super::house::House;

/// A backend of any kind, as redb takes it.
#[derive(Debug)]
struct Backend(Box<dyn StorageBackend>);

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }
    fn close(&self) -> io::Result<()> {
        self.0.close()
    }
}

/// Flips a bit in a record. The daemon is stopped.
pub fn damage(house: &House, table: &str, key: &[u8]) {
    let definition: redb::TableDefinition<'_, &[u8], &[u8]> = redb::TableDefinition::new(table);
    let backend = Backend(house.disk.open().unwrap());
    let database = redb::Builder::new().create_with_backend(backend).unwrap();
    let transaction = database.begin_write().unwrap();
    {
        let mut table = transaction.open_table(definition).unwrap();
        let mut record = table.get(key).unwrap().unwrap().value().to_vec();
        let middle = record.len() / 2;
        record[middle] ^= 1;
        table.insert(key, record.as_slice()).unwrap();
    }
    transaction.commit().unwrap();
}
