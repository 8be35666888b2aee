import { assertThrows } from "@std/assert";
import { BadRequestError } from "@swink/agent";
import { createAcme } from "./acme.ts";

Deno.test("createAcme() refuses a misspelt option", () => {
  const options = { baseURL: "https://gateway.example" };
  assertThrows(() => createAcme(options as object), BadRequestError, "did you mean baseUrl?");
});
