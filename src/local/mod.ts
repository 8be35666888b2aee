/**
 * Models on this device: no server, no key and, after the download, no network.
 *
 * The models run in this process with llama.cpp, through the npm package `node-llama-cpp`, which is loaded on first use.
 * `docs/local_models.md` in the repository describes installation, presets and limits.
 *
 * @example
 * ```ts ignore
 * import { Agent } from "@swink/agent";
 * import { createLocal } from "@swink/agent/local";
 *
 * await using streamFn = createLocal({ model: "qwen3-4b" });
 * const agent = new Agent({ model: "local/qwen3-4b", streamFn });
 * const { text } = await agent.prompt("Why is the sky blue?");
 * ```
 *
 * @module
 */

export { createLocal, type LocalOptions, type LocalStreamFn } from "./create_local.ts";
export { createEmbedder, type Embedder, type EmbedOptions } from "./create_embedder.ts";
export { LocalModel } from "./local_model.ts";
export type { LocalModelOptions, ModelPurpose } from "./local_model_options.ts";
export type { LocalModelState } from "./model_state.ts";
export {
  type ModelPlace,
  ModelStore,
  type ModelStoreOptions,
  type PullOptions,
  type StoredModel,
} from "./store/model_store.ts";
export type { DownloadProgress } from "./store/download_options.ts";
export type { HubFile } from "./store/hub_file.ts";
export { getModelDirectory, type ReadVariable } from "./store/model_directory.ts";
export { findPreset, type LocalPreset, PRESETS } from "./store/presets.ts";
export type { ModelProfile } from "./gguf/model_profile.ts";
export { estimateMemory, formatBytes, type MemoryEstimate } from "./gguf/memory_estimate.ts";
export { LLAMA_PACKAGE, type LlamaGpu, type LlamaModule } from "./llama/llama_runtime.ts";
export type { Sampling } from "./llama/text_engine.ts";
