import { assertEquals } from "@std/assert";
import { findDeviceModels } from "./device_models.ts";

const HOST = { env: () => undefined, fetch };

Deno.test("findDeviceModels(): offers no download of a model that cannot run in this program", async () => {
  const problem = "Models cannot run here.";
  assertEquals(await findDeviceModels(HOST, problem), { models: [], problem });
});
