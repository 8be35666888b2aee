import { assertEquals } from "@std/assert";
import { getFileProblem } from "./file_problem.ts";

Deno.test("getFileProblem(): leaves out what the runtime adds to the reason", async () => {
  const problem = await Deno.readTextFile("/no such\nfile").catch(getFileProblem);
  assertEquals(problem, "No such file or directory");
  assertEquals(getFileProblem(new Error("Is a directory (os error 21)")), "Is a directory");
  assertEquals(
    getFileProblem(new Error("read-only (Read-only file system (os error 30)); 1 not stored")),
    "read-only (Read-only file system); 1 not stored",
  );
  assertEquals(
    getFileProblem(new Error("read-only (Read-only file system (os error 30): open '/a (b)')")),
    "read-only (Read-only file system)",
  );
});

Deno.test("getFileProblem(): keeps any other message", () => {
  assertEquals(getFileProblem(new SyntaxError("Unexpected end")), "Unexpected end");
  assertEquals(getFileProblem("no (os error) here: x"), "no (os error) here: x");
});
