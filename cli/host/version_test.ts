import { assertEquals } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { VERSION } from "./version.ts";

Deno.test("VERSION: is the version of deno.json", () => {
  assertEquals(VERSION, config.version);
});
