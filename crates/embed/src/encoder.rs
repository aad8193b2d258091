//! The BERT encoder: tokens in, the mean of their last states out.
//!
//! Texts are encoded one by one and never padded, so a vector does not depend on its neighbours.

use ndarray::{Array1, Array2, ArrayView1, ArrayViewMut1, Axis, Slice};

use crate::config::Config;
use crate::error::Error;
use crate::weights::Weights;

/// The encoder.
#[derive(Debug)]
pub(crate) struct Encoder {
    config: Config,
    words: Array2<f32>,
    positions: Array2<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

#[derive(Debug)]
struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    attended_norm: Norm,
    widened: Linear,
    narrowed: Linear,
    norm: Norm,
}

/// `x · weightᵀ + bias`.
#[derive(Debug)]
struct Linear {
    weight: Array2<f32>,
    bias: Array1<f32>,
}

/// The normalization of a layer.
#[derive(Debug)]
struct Norm {
    weight: Array1<f32>,
    bias: Array1<f32>,
    epsilon: f32,
}

impl Encoder {
    /// Reads the weights.
    ///
    /// # Errors
    /// As [`Weights::matrix`].
    pub(crate) fn read(weights: &Weights<'_>, config: Config) -> Result<Self, Error> {
        let (hidden, wide) = (config.hidden, config.intermediate);
        let norm = |name: &str| {
            Ok(Norm {
                weight: weights.vector(&format!("{name}.weight"), hidden)?,
                bias: weights.vector(&format!("{name}.bias"), hidden)?,
                epsilon: config.epsilon,
            })
        };
        let linear = |name: &str, to: usize, from: usize| {
            Ok(Linear {
                weight: weights.matrix(&format!("{name}.weight"), [to, from])?,
                bias: weights.vector(&format!("{name}.bias"), to)?,
            })
        };
        let layer = |number: usize| {
            let of = |name: &str| format!("encoder.layer.{number}.{name}");
            Ok(Layer {
                query: linear(&of("attention.self.query"), hidden, hidden)?,
                key: linear(&of("attention.self.key"), hidden, hidden)?,
                value: linear(&of("attention.self.value"), hidden, hidden)?,
                attended: linear(&of("attention.output.dense"), hidden, hidden)?,
                attended_norm: norm(&of("attention.output.LayerNorm"))?,
                widened: linear(&of("intermediate.dense"), wide, hidden)?,
                narrowed: linear(&of("output.dense"), hidden, wide)?,
                norm: norm(&of("output.LayerNorm"))?,
            })
        };
        let positions = [config.positions, hidden];
        let mut positions = weights.matrix("embeddings.position_embeddings.weight", positions)?;
        // A text is one sentence: every token is of the first type.
        let types = weights.table("embeddings.token_type_embeddings.weight", hidden)?;
        if let Some(first) = types.rows().into_iter().next() {
            positions += &first;
        }
        Ok(Self {
            config,
            words: weights.table("embeddings.word_embeddings.weight", hidden)?,
            positions,
            norm: norm("embeddings.LayerNorm")?,
            layers: (0..config.layers)
                .map(layer)
                .collect::<Result<_, Error>>()?,
        })
    }

    /// Returns the number of tokens that it knows.
    pub(crate) fn vocabulary(&self) -> usize {
        self.words.nrows()
    }

    /// Returns the mean of the last states of tokens, of which there are at least one and at most as
    /// many as positions, each below [`vocabulary`](Self::vocabulary).
    pub(crate) fn encode(&self, tokens: &[usize]) -> Vec<f32> {
        let mut states = self.words.select(Axis(0), tokens);
        states += &self
            .positions
            .slice_axis(Axis(0), Slice::from(..tokens.len()));
        self.norm.apply(&mut states);
        for layer in &self.layers {
            layer.apply(&mut states, self.config.heads);
        }
        let mean = states.mean_axis(Axis(0));
        mean.map(|mean| mean.to_vec()).unwrap_or_default()
    }
}

impl Layer {
    fn apply(&self, states: &mut Array2<f32>, heads: usize) {
        let [query, key, value] = [&self.query, &self.key, &self.value].map(|it| it.of(states));
        let width = query.ncols() / heads;
        let scale = f32::sqrt(as_f32(width)).recip();
        let mut context = Array2::zeros(states.dim());
        for head in 0..heads {
            let columns = Slice::from(head * width..(head + 1) * width);
            let [query, key, value] =
                [&query, &key, &value].map(|it| it.slice_axis(Axis(1), columns));
            let mut weights = query.dot(&key.t());
            for row in weights.rows_mut() {
                soften(row, scale);
            }
            let attended = weights.dot(&value);
            context.slice_axis_mut(Axis(1), columns).assign(&attended);
        }
        *states += &self.attended.of(&context);
        self.attended_norm.apply(states);
        let mut wide = self.widened.of(states);
        wide.mapv_inplace(gelu);
        *states += &self.narrowed.of(&wide);
        self.norm.apply(states);
    }
}

impl Linear {
    fn of(&self, states: &Array2<f32>) -> Array2<f32> {
        let mut product = states.dot(&self.weight.t());
        product += &self.bias;
        product
    }
}

impl Norm {
    fn apply(&self, states: &mut Array2<f32>) {
        for mut row in states.rows_mut() {
            let mean = row.mean().unwrap_or(0.0);
            row -= mean;
            let deviation = (square_mean(&row.view()) + self.epsilon).sqrt();
            row /= deviation;
            row *= &self.weight;
            row += &self.bias;
        }
    }
}

fn square_mean(row: &ArrayView1<'_, f32>) -> f32 {
    row.dot(row) / as_f32(row.len().max(1))
}

/// Turns scores into shares that sum to 1.
fn soften(mut scores: ArrayViewMut1<'_, f32>, scale: f32) {
    let largest = scores.fold(f32::NEG_INFINITY, |largest, score| largest.max(*score));
    scores.mapv_inplace(|score| ((score - largest) * scale).exp());
    let sum = scores.sum();
    scores /= sum;
}

fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + libm::erff(x * std::f32::consts::FRAC_1_SQRT_2))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a size of a model, far below 2^24"
)]
const fn as_f32(size: usize) -> f32 {
    size as f32
}
