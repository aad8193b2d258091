//! The numbers of a model, from its `model.safetensors`: each with the shape that the configuration
//! demands, so that no later product can fail.

use std::path::Path;

use ndarray::{Array1, Array2};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use crate::error::Error;

/// The tensors of a file.
pub(crate) struct Weights<'a> {
    file: &'a Path,
    tensors: SafeTensors<'a>,
}

impl<'a> Weights<'a> {
    pub(crate) fn read(file: &'a Path, bytes: &'a [u8]) -> Result<Self, Error> {
        let tensors = SafeTensors::deserialize(bytes);
        let tensors = tensors.map_err(|error| Error::of(file, error))?;
        Ok(Self { file, tensors })
    }

    /// Returns a matrix of this shape.
    ///
    /// # Errors
    /// A file without it, or with one of another shape or of other numbers.
    pub(crate) fn matrix(&self, name: &str, shape: [usize; 2]) -> Result<Array2<f32>, Error> {
        let numbers = self.numbers(name, &self.tensor(name)?, &shape)?;
        let matrix = Array2::from_shape_vec(shape, numbers);
        matrix.map_err(|error| Error::of(self.file, format!("{name}: {error}")))
    }

    /// Returns a matrix with this many columns.
    ///
    /// # Errors
    /// As [`Weights::matrix`].
    pub(crate) fn table(&self, name: &str, columns: usize) -> Result<Array2<f32>, Error> {
        let [rows, _] = *self.tensor(name)?.shape() else {
            return Err(Error::of(self.file, format!("{name} is no matrix")));
        };
        self.matrix(name, [rows, columns])
    }

    /// Returns a vector of this length.
    ///
    /// # Errors
    /// As [`Weights::matrix`].
    pub(crate) fn vector(&self, name: &str, len: usize) -> Result<Array1<f32>, Error> {
        let numbers = self.numbers(name, &self.tensor(name)?, &[len])?;
        Ok(Array1::from_vec(numbers))
    }

    /// A checkpoint of the whole model has a prefix before the names of the encoder.
    fn tensor(&self, name: &str) -> Result<TensorView<'a>, Error> {
        let found = self.tensors.tensor(name);
        let found = found.or_else(|_| self.tensors.tensor(&format!("bert.{name}")));
        found.map_err(|error| Error::of(self.file, error))
    }

    fn numbers(
        &self,
        name: &str,
        tensor: &TensorView<'_>,
        shape: &[usize],
    ) -> Result<Vec<f32>, Error> {
        if tensor.shape() != shape || tensor.dtype() != Dtype::F32 {
            let (found, of) = (tensor.shape(), tensor.dtype());
            let reason = format!("{name} is {found:?} of {of:?}, and not {shape:?} of F32");
            return Err(Error::of(self.file, reason));
        }
        let (numbers, _) = tensor.data().as_chunks();
        let numbers: Vec<f32> = numbers.iter().copied().map(f32::from_le_bytes).collect();
        match numbers.iter().all(|number| number.is_finite()) {
            true => Ok(numbers),
            false => Err(Error::of(self.file, format!("{name} is not finite"))),
        }
    }
}
