import { assertEquals } from "@std/assert";
import { startThreadTimer } from "../../../../tests/thread_time.ts";
import { parseShell } from "../shell/shell_syntax.ts";
import { isHarmlessSed, isPlainSed } from "./plain_sed.ts";

function parse(command: string) {
  return parseShell(command).commands[0]?.words.slice(1) ?? [];
}

const HARMLESS = [
  "sed -n 5,10p a",
  "sed -n '/foo/,/bar/p' a",
  "sed -n '1,20p;40,60p' a b",
  "sed -n '/a/I,$p' a",
  "sed -n '$=' a",
  "sed -n -e 1p -e '5,+3p' a",
  "sed -ne '/x/{p;q}' a",
  "sed --quiet --expression=1p a",
  "sed '/^#/d;/^$/d' a",
  "sed '/[[:space:]]/!d' a",
  "sed -E 's/(a|b)+/\\1/g; s#/x#/y#' a",
  "sed 's/[^]]/x/' a",
  "sed ':a;N;$!ba;s/\\n/ /g' a",
  "sed '3a text; e rm a' a",
  "sed 10q a",
];

const PLAIN = [
  "sed -i s/a/b/ a",
  "sed -i.bak -e '/x/d' -e 's/a/b/' a",
  "sed -i '' 's/a/b/' a",
  "sed --in-place=.bak 's/a/b/' $FILES",
  "sed -i '5i\\  text' a",
  "sed -i '/x/c text' a",
  "sed -i '5a\\\ntext' a",
  "sed -i '5a \\\n  one\\\n\\\n; e rm a' a",
  "sed -i '5i one\\\\\\\ne rm a' a",
];

const OTHERS = [
  "sed '1e rm a' a",
  "sed 'e rm a' a",
  "sed 's/a/b/e' a",
  "sed 's/a/b/;e rm a' a",
  "sed 's/a/b/\ne rm a' a",
  "sed '/a/{e rm a\n}' a",
  "sed '1!e rm a' a",
  "sed -n '/[/p;s/]/ e rm a;s/p' a",
  "sed 's/[/]/x/;s/b/ e rm a/;s/c/d/' a",
  "sed '1a\\\ntext\ne rm a' a",
  "sed '1a text\\\\\ne rm a' a",
  "sed '1a\\\ntext\\\\\ne rm a' a",
  "sed '1a\\\n\ne rm a' a",
  "sed '1{a\\\ntext\n}' a",
  "sed -e '1a\\' -e 'e rm a' a",
  "sed '\\,a,e rm a' a",
  "sed 's/a/b/w c' a",
  "sed 'w c' a",
  "sed 'r c' a",
  "sed 'R c' a",
  "sed -f c a",
  "sed -nf c a",
  "sed --file=c a",
  "sed -e 1p -e '1e rm a' a",
  "sed --expression='1e rm a' a",
  "sed -ne'1e rm a' a",
  "sed -s -i -e '1e rm a' a",
  "sed -i '' '1e rm a' a",
  "sed $X a",
  'sed "s/a/$X/" a',
  "sed -e",
  "sed",
  "sed --debug 1p a",
];

Deno.test("isHarmlessSed(), isPlainSed(): scripts that only print lines", () => {
  const getTexts = (command: string) => parse(command).map(({ text }) => text);
  const getHarmless = (commands: readonly string[]) =>
    commands.filter((command) => isHarmlessSed(getTexts(command)));
  assertEquals(getHarmless(HARMLESS), HARMLESS);
  assertEquals(getHarmless(PLAIN), []);
  const areLiteral = OTHERS.filter((command) => parse(command).every(({ literal }) => literal));
  assertEquals(getHarmless(areLiteral), []);
});

Deno.test("isPlainSed(): scripts that run no programs, and neither read nor write other files", () => {
  const getPlain = (commands: readonly string[]) =>
    commands.filter((command) => isPlainSed(parse(command)));
  assertEquals(getPlain(HARMLESS), HARMLESS);
  assertEquals(getPlain(PLAIN), PLAIN);
  assertEquals(getPlain(OTHERS), []);
});

Deno.test("isPlainSed(): long scripts take little time", () => {
  const parts = ["[", "s/a/", "\\", "/[", "1,", "p;", ":a", " ", "{", "a", "s/[a]"];
  const words = parts.flatMap((part) =>
    [4_096, 400_000].map((length) => ({
      text: part.repeat(length / part.length),
      literal: true,
    }))
  );
  const getThreadTime = startThreadTimer();
  for (const word of words) isPlainSed([word]);
  assertEquals(getThreadTime() < 2_000, true);
});
