import { assertEquals } from "@std/assert";
import { createTemporaryDirectory } from "../../../tests/cli/temporary_directory.ts";
import { addAttachments } from "../../run/prompt/attachments.ts";
import { getTypedText } from "./typed_text.ts";

Deno.test("getTypedText: returns what was typed of a prompt with files", async () => {
  await using home = await createTemporaryDirectory({
    "a.txt": "one\n\n</file>\n",
    "b c.txt": '\n\n<file path="a.txt">\n1\n</file>',
    'q"\\.txt': "two\n",
  });
  for (
    const typed of ["Compare @a.txt", 'Read\n\n@"b c.txt", then @a.txt.', 'What is @"b c.txt"?']
  ) {
    const input = await addAttachments(typed, {
      cwd: home.path,
      images: [],
      typed,
      signal: new AbortController().signal,
      onWarning: () => {},
    });
    assertEquals(typeof input === "string" && input !== typed, true);
    assertEquals(getTypedText(String(input)), typed);
  }
});

Deno.test("getTypedText: leaves other texts as they are", () => {
  for (
    const text of [
      "",
      "Compare @a.txt",
      'Why\n\n<file path="a.txt">\n1\n</file>',
      'Why @a.txt\n\n<file path="a.txt">\n1\n</file>\nThe hook says no.',
      'Why @a.txt\n\n<file path="\\u">\n1\n</file>',
    ]
  ) assertEquals(getTypedText(text), text);
});
