import { assertEquals } from "@std/assert";
import { measureFileLengths, measureFunctionLengths } from "./lengths.ts";
import { parseSource } from "./source_files.ts";

Deno.test("measureFunctionLengths() counts from the declaration to the closing brace", () => {
  const source = "/** Doc. */\nfunction a() {\n  return 1;\n}\nfunction b() {}\n";
  assertEquals(measureFunctionLengths([parseSource("a.ts", source)]), {
    median: 1,
    p90: 3,
    p99: 3,
    max: 3,
    longest: ["3 a.ts:2 a", "1 a.ts:5 b"],
  });
});

Deno.test("measureFileLengths() lists the five longest files", () => {
  const files = [1, 2, 3, 4, 5, 6].map((lines) =>
    parseSource(`${lines}.ts`, "f();\n".repeat(lines))
  );
  const { median, max, longest } = measureFileLengths(files);
  assertEquals([median, max], [3, 6]);
  assertEquals(longest, ["6 6.ts", "5 5.ts", "4 4.ts", "3 3.ts", "2 2.ts"]);
});
