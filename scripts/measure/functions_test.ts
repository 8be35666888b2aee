import { assertEquals } from "@std/assert";
import { listFunctions } from "./functions.ts";
import { parseSource } from "./source_files.ts";

Deno.test("listFunctions() lists functions with a name and a body", () => {
  const source = `
    declare function none(): void;
    function a() { function inner() {} }
    const b = () => 1;
    class C {
      #d() {}
      get e() { return 1; }
      constructor() {}
      f = function () {};
      abstract g(): void;
    }
    const object = { h() {}, i: () => {} };
    list.map((callback) => callback);
  `;
  const names = listFunctions([parseSource("a.ts", source)]).map(({ name }) => name);
  assertEquals(names, ["a", "inner", "b", "#d", "get e", "constructor", "f", "h", "i"]);
});

Deno.test("listFunctions() counts the lines of a function and of its body", () => {
  const source = "function a(\n  b: string,\n) {\n  return b;\n}\nconst c = () =>\n  1;\n";
  const counts = listFunctions([parseSource("a.ts", source)]).map((f) => [f.lines, f.bodyLines]);
  assertEquals(counts, [[5, 1], [2, 1]]);
});
