import { assertEquals } from "@std/assert";
import { fromBinaryString } from "../../core/text/byte_encoding.ts";
import { detectFileKind } from "./file_kind.ts";

/** The beginning of a document; the second line marks it as binary. */
const PDF = "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj";

const KINDS: readonly (readonly [title: string, start: string, kind: string])[] = [
  ["a PDF document", PDF, "pdf"],
  ["a PDF document behind blank lines", `\r\n\n${PDF}`, "pdf"],
  ["a PDF document without binary bytes behind a byte order mark", "\xef\xbb\xbf%PDF-1.4\n", "pdf"],
  ["a PDF document behind a header of 1,000 bytes", `${"X: y\r\n".repeat(166)}${PDF}`, "pdf"],
  ["a PDF document behind bytes with a NUL", `\0\0\0\x10%PDF-1.4\n`, "pdf"],
  ["a text that quotes the header of one", `const header = "%PDF-1.4";\n// caf\xc3\xa9\n`, "text"],
  ["a text in Latin-1 that quotes it", 'caf\xe9 "%PDF-1.4"\n', "text"],
  ["a text in Latin-1", "caf\xe9\n", "text"],
  [
    "other binary content with the header behind 1,024 bytes",
    `\0${" ".repeat(1_024)}${PDF}`,
    "binary",
  ],
];

for (const [title, start, kind] of KINDS) {
  Deno.test(`detectFileKind(): detects ${title}`, () => {
    assertEquals(detectFileKind(fromBinaryString(start)).type, kind);
  });
}
