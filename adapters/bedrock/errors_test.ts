import { assertEquals } from "@std/assert";
import { toErrorBody } from "./errors.ts";

Deno.test("toErrorBody(): only a ValidationException has a status, so that its message decides", () => {
  assertEquals(toErrorBody("validationException", "too long"), {
    code: "ValidationException",
    message: "too long",
    status: 400,
  });
  assertEquals(toErrorBody("throttlingException", "slow down"), {
    code: "ThrottlingException",
    message: "slow down",
  });
});
