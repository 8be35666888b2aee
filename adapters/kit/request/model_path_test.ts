import { assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../../../src/core/errors/errors.ts";
import { encodeModelPath } from "./model_path.ts";

Deno.test("encodeModelPath(): encodes each step", () => {
  const model = { provider: "acme", modelId: "a/b:1" };
  assertEquals(encodeModelPath(["models", "a/b:1"], model), "models/a%2Fb%3A1");
});

Deno.test("encodeModelPath(): rejects ids that lead to another resource or are not valid Unicode", () => {
  for (const modelId of ["", ".", "..", "\ud800"]) {
    const encode = () => encodeModelPath(["models", modelId], { provider: "acme", modelId });
    assertThrows(encode, BadRequestError, "Invalid model id");
  }
});
