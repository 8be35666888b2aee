/**
 * Models that are known to work: small ones that call tools, and two for embeddings.
 *
 * Size and SHA-256 belong to the pinned commit: the SHA-256 is the id of the file's object in Git LFS. They were not
 * measured for this list, but agree in several public projects that pin the same commit.
 *
 * @module
 */

import type { Sampling } from "../llama/text_engine.ts";
import type { HubFile } from "./hub_file.ts";

/** A model that is known to work. */
export interface LocalPreset extends HubFile {
  /** Name of the preset: `qwen3-4b`. */
  readonly name: string;
  /** Purpose of the model. */
  readonly purpose: "chat" | "embedding";
  /** Commit of the repository. */
  readonly revision: string;
  /** SHA-256 of the file. */
  readonly sha256: string;
  /** Size of the file in bytes. */
  readonly size: number;
  /** Number of tokens that the model was trained on. */
  readonly contextLength: number;
  /** Licence of the weights, by its SPDX id. */
  readonly license: string;
  /** How tokens are chosen, as the authors recommend. */
  readonly sampling?: Sampling;
}

/** Recommended by the model cards of Qwen3 for thinking mode. */
const QWEN3_SAMPLING: Sampling = { temperature: 0.6, topP: 0.95, topK: 20, minP: 0 };

/** The presets, from small to large. */
export const PRESETS: readonly LocalPreset[] = [
  {
    name: "qwen3-0.6b",
    purpose: "chat",
    repository: "Qwen/Qwen3-0.6B-GGUF",
    revision: "23749fefcc72300e3a2ad315e1317431b06b590a",
    file: "Qwen3-0.6B-Q8_0.gguf",
    size: 639_446_688,
    sha256: "9465e63a22add5354d9bb4b99e90117043c7124007664907259bd16d043bb031",
    contextLength: 32_768,
    license: "Apache-2.0",
    sampling: QWEN3_SAMPLING,
  },
  {
    name: "qwen3-1.7b",
    purpose: "chat",
    repository: "Qwen/Qwen3-1.7B-GGUF",
    revision: "90862c4b9d2787eaed51d12237eafdfe7c5f6077",
    file: "Qwen3-1.7B-Q8_0.gguf",
    size: 1_834_426_016,
    sha256: "061b54daade076b5d3362dac252678d17da8c68f07560be70818cace6590cb1a",
    contextLength: 32_768,
    license: "Apache-2.0",
    sampling: QWEN3_SAMPLING,
  },
  {
    name: "qwen3-4b",
    purpose: "chat",
    repository: "Qwen/Qwen3-4B-GGUF",
    revision: "bc640142c66e1fdd12af0bd68f40445458f3869b",
    file: "Qwen3-4B-Q4_K_M.gguf",
    size: 2_497_280_256,
    sha256: "7485fe6f11af29433bc51cab58009521f205840f5b4ae3a32fa7f92e8534fdf5",
    contextLength: 32_768,
    license: "Apache-2.0",
    sampling: QWEN3_SAMPLING,
  },
  {
    name: "qwen3-8b",
    purpose: "chat",
    repository: "Qwen/Qwen3-8B-GGUF",
    revision: "7c41481f57cb95916b40956ab2f0b139b296d974",
    file: "Qwen3-8B-Q4_K_M.gguf",
    size: 5_027_783_488,
    sha256: "d98cdcbd03e17ce47681435b5150e34c1417f50b5c0019dd560e4882c5745785",
    contextLength: 32_768,
    license: "Apache-2.0",
    sampling: QWEN3_SAMPLING,
  },
  {
    name: "nomic-embed-text-v1.5",
    purpose: "embedding",
    repository: "nomic-ai/nomic-embed-text-v1.5-GGUF",
    revision: "0188c9bf409793f810680a5a431e7b899c46104c",
    file: "nomic-embed-text-v1.5.Q8_0.gguf",
    size: 146_146_432,
    sha256: "3e24342164b3d94991ba9692fdc0dd08e3fd7362e0aacc396a9a5c54a544c3b7",
    contextLength: 2_048,
    license: "Apache-2.0",
  },
  {
    name: "qwen3-embedding-0.6b",
    purpose: "embedding",
    repository: "Qwen/Qwen3-Embedding-0.6B-GGUF",
    revision: "370f27d7550e0def9b39c1f16d3fbaa13aa67728",
    file: "Qwen3-Embedding-0.6B-Q8_0.gguf",
    size: 639_150_592,
    sha256: "06507c7b42688469c4e7298b0a1e16deff06caf291cf0a5b278c308249c3e439",
    contextLength: 32_768,
    license: "Apache-2.0",
  },
];

/** Returns the preset with a name. */
export function findPreset(name: string): LocalPreset | undefined {
  return PRESETS.find((preset) => preset.name === name);
}
