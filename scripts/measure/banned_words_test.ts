import { assertEquals } from "@std/assert";
import { countBannedWords } from "./banned_words.ts";

Deno.test("countBannedWords() counts by kind, without exceptions", async () => {
  const directory = await Deno.makeTempDir({ prefix: "swink_measure_" });
  try {
    const word = "anew";
    const source = [
      `// What it does.`,
      `const ${word} = "${word}"; // ${word}`,
      `// deno-lint-ignore swink/plain-language -- a quotation`,
      `f("${word}");`,
    ].join("\n");
    await Deno.writeTextFile(`${directory}/a.ts`, source);
    assertEquals(await countBannedWords(new URL(`file://${directory}/`)), {
      identifiers: 1,
      comments: 1,
      texts: 1,
      fileNames: 0,
      openingWhats: 1,
    });
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
