import { assertEquals } from "@std/assert";
import { createTemporaryDirectory } from "../../tests/cli/temporary_directory.ts";
import { findDeviceModels } from "./device_models.ts";

const HOST = { env: () => undefined, fetch };

Deno.test("findDeviceModels(): offers no download of a model that cannot run in this program", async () => {
  const problem = "Models cannot run here.";
  assertEquals(await findDeviceModels(HOST, problem), { models: [], problem });
});

Deno.test("findDeviceModels(): offers no model for embeddings", async () => {
  await using home = await createTemporaryDirectory({
    "mine.gguf": "",
    "Qwen--Qwen3-Embedding-GGUF--q8.gguf": "",
    "all-MiniLM-L6-v2.Q8_0.gguf": "",
    "bge-reranker-v2-m3.gguf": "",
    "nomic-embed-text-v1.5.gguf": "",
  });
  const env = (name: string) => name === "SWINK_MODELS" ? home.path : undefined;
  const { models } = await findDeviceModels({ env, fetch });
  assertEquals(models.filter(({ download }) => !download).map(({ name }) => name), ["local/mine"]);
  assertEquals(models.length, 5);
});
