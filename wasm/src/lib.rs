//! What `package/index.js` calls: a template in memory, and the questions to it. Questions and
//! answers are texts of JSON, so that JavaScript gets the documents that the command writes.

mod diagnostics;
mod question;

use cuvee::Resolver;
use cuvee::source::MemoryFiles;
use question::Question;
use wasm_bindgen::prelude::*;

/// A template and the files around it.
#[wasm_bindgen]
pub struct Session {
    template: String,
    files: Vec<(String, Vec<u8>)>,
    /// What reads the files, once all of them are there.
    resolver: Option<Resolver>,
}

#[wasm_bindgen]
impl Session {
    /// A template at this path, which is one of the files or a directory of them.
    #[wasm_bindgen(constructor)]
    pub fn new(template: String) -> Self {
        Self { template, files: Vec::new(), resolver: None }
    }

    /// Adds a file.
    pub fn add(&mut self, path: String, content: Vec<u8>) {
        self.files.push((path, content));
    }

    /// Answers a question in JSON.
    ///
    /// # Errors
    /// What is wrong, in JSON.
    pub fn ask(&mut self, question: &str) -> Result<String, String> {
        let question: Question = match serde_json::from_str(question) {
            Ok(question) => question,
            Err(error) => return Err(diagnostics::misuse(&error.to_string())),
        };
        let query = question.query().map_err(|wrong| diagnostics::misuse(&wrong.message))?;
        question
            .answer(self.resolver(), &self.template, &query)
            .map_err(|failure| diagnostics::failure(&failure))
    }

    fn resolver(&mut self) -> Resolver {
        let (template, files) = (&self.template, &mut self.files);
        let made = self.resolver.get_or_insert_with(|| {
            let files: MemoryFiles = std::mem::take(files).into_iter().collect();
            Resolver::new(template.as_str()).files(files)
        });
        made.clone()
    }
}
