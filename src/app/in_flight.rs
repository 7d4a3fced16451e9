//! How many chats each key has under way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::app::Error;
use crate::domain::account::KeyId;

/// The chats under way, by key.
#[derive(Debug, Default)]
pub(in crate::app) struct InFlight(Arc<Mutex<HashMap<KeyId, u32>>>);

/// The place of one chat, until it is dropped.
#[derive(Debug)]
pub(in crate::app) struct Place {
    places: Arc<Mutex<HashMap<KeyId, u32>>>,
    key: KeyId,
}

impl InFlight {
    /// Takes a place of a key that may have `limit` of them; any number without one.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyChats`] when all are taken.
    pub(in crate::app) fn enter(&self, key: KeyId, limit: Option<u32>) -> Result<Place, Error> {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = places.get(&key).copied().unwrap_or(0);
        if let Some(limit) = limit.filter(|it| taken >= *it) {
            return Err(Error::TooManyChats { limit });
        }
        places.insert(key, taken.saturating_add(1));
        Ok(Place { places: Arc::clone(&self.0), key })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        match places.get_mut(&self.key) {
            Some(taken) if *taken > 1 => *taken = taken.saturating_sub(1),
            Some(_) | None => drop(places.remove(&self.key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::Id;

    #[test]
    fn a_place_is_free_again_when_its_chat_is_over() {
        let (places, key) = (InFlight::default(), Id::from_bytes([1; 16]));
        let first = places.enter(key, Some(2)).unwrap();
        let second = places.enter(key, Some(2)).unwrap();
        let full = places.enter(key, Some(2)).unwrap_err();
        assert!(matches!(full, Error::TooManyChats { limit: 2 }));
        assert!(places.enter(Id::from_bytes([2; 16]), Some(2)).is_ok());
        assert!(places.enter(key, None).is_ok());
        drop(first);
        let third = places.enter(key, Some(2)).unwrap();
        drop((second, third));
        assert!(places.0.lock().unwrap().is_empty());
    }
}
