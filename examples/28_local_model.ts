// A model on this device: which ones there are, what they need, and the error for one that is missing.

import { Agent } from "@swink/agent";
import {
  createLocal,
  estimateMemory,
  findPreset,
  formatBytes,
  LocalModel,
  ModelStore,
  PRESETS,
} from "@swink/agent/local";

const directory = await Deno.makeTempDir();
const store = new ModelStore({ directory });
console.log(`${(await store.list()).length} models on this device`);

for (const { name, size, purpose, license } of PRESETS) {
  console.log(`${name}: ${formatBytes(size)}, ${purpose}, ${license}`);
}

// Qwen3 4B has 36 layers with 8 heads, each with 128 keys and values of 2 bytes for each token.
const fileSize = findPreset("qwen3-4b")?.size ?? 0;
const { total } = estimateMemory(
  { fileSize, bytesPerToken: 36 * 8 * 2 * 128 * 2 },
  { contextSize: 8_192 },
);
console.log(`qwen3-4b needs ${formatBytes(total)} of memory`);

// With "qwen3-4b" instead of a path, the first prompt downloads the model.
const model = new LocalModel({
  model: `${directory}/model.gguf`,
  onState: ({ type }) => console.log(`state: ${type}`),
});
const agent = new Agent({ model: "local/model", streamFn: createLocal(model) });
const { error } = await agent.prompt("Hello");
console.log(`${error?.code}: ${error?.message.replace(directory, "…")}`);

// Prints:
// 0 models on this device
// qwen3-0.6b: 639 MB, chat, Apache-2.0
// qwen3-1.7b: 1.8 GB, chat, Apache-2.0
// qwen3-4b: 2.5 GB, chat, Apache-2.0
// qwen3-8b: 5.0 GB, chat, Apache-2.0
// nomic-embed-text-v1.5: 146 MB, embedding, Apache-2.0
// qwen3-embedding-0.6b: 639 MB, embedding, Apache-2.0
// qwen3-4b needs 3.9 GB of memory
// state: failed
// model_not_found: There is no file …/model.gguf
