import { assertEquals } from "@std/assert";
import { isDeno, system } from "../../platform/system.ts";
import { findChildProgram } from "./child_program.ts";

Deno.test("findChildProgram(): is the runtime of this program", () => {
  const program = findChildProgram();
  assertEquals(program?.path, system.execPath());
  assertEquals(program?.type === "deno", isDeno);
});
