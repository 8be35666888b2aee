import { assertEquals } from "@std/assert";
import { listScriptFiles } from "./script_files.ts";

Deno.test("listScriptFiles(): returns the files that a script reads, and the words of its commands", () => {
  assertEquals(listScriptFiles("sed", "/x/r a.txt"), ["a.txt"]);
  assertEquals(listScriptFiles("sed", "s/a/b/; p"), []);
  assertEquals(listScriptFiles("awk", '{ getline x < "a.txt" }'), ["a.txt"]);
  assertEquals(listScriptFiles("gawk", 'BEGIN { system("cat a.txt") }'), ["cat", "a.txt"]);
  assertEquals(listScriptFiles("grep", "r a.txt"), []);
});
