import { assertEquals, assertStrictEquals } from "@std/assert";
import { ContextWindowOverflowError, NetworkError } from "./errors.ts";
import { withModel } from "./with_model.ts";

Deno.test("withModel() adds the model to an overflow that has none, and keeps everything else", () => {
  const model = { provider: "openai", modelId: "gpt-5" };
  const options = { retryable: true, status: 400, requestId: "r1", cause: "big" };
  const overflow = new ContextWindowOverflowError("Too long", options);
  const named = withModel(overflow, model);
  assertEquals(named.toJSON(), { ...overflow.toJSON(), provider: "openai", model: "gpt-5" });
  assertEquals([named instanceof ContextWindowOverflowError, named.cause], [true, "big"]);
  assertStrictEquals(withModel(named, { provider: "other", modelId: "other" }), named);
  const network = new NetworkError("reset");
  assertStrictEquals(withModel(network, model), network);
});
