import { assert, assertEquals } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { seededRandom } from "../../testing/seeded_random.ts";
import { htmlToText } from "./html_text.ts";

const convert = (html: string) => htmlToText(html, "https://a.test/dir/page");

Deno.test("htmlToText() keeps headings, lists, tables, code and links", () => {
  assertEquals(
    convert("<h2>Use</h2><ul><li>one</li><li>two <b>bold</b></li></ul><pre>a  <b>b</b>\n  c</pre>"),
    "## Use\n\n- one\n- two bold\n\n```\na  b\n  c\n```",
  );
  assertEquals(
    convert("<a href='x'>in</a> <a href=\"#top\">top</a> <a href='javascript:x'>js</a>"),
    "[in](https://a.test/dir/x) top js",
  );
  assertEquals(convert("<tr><td>a</td><td>b</td></tr>"), "| a | b");
});

Deno.test("htmlToText() drops comments, styles and scripts and decodes entities", () => {
  assertEquals(
    convert(
      "a<!-- x > y --><style>b</style><SCRIPT>c</ScRiPt>&lt;d&gt; &#233;&#x1F600;&unknown;&amp;lt;",
    ),
    "a<d> é😀&unknown;&lt;",
  );
  assertEquals(convert("1 < 2 <img alt='a > b'>x"), "1 < 2 x");
});

Deno.test("htmlToText() converts 500 KB of hostile markup in linear time", () => {
  const hostile = ["<script", "<!--", "<a href='", "<pre>", "<", "</", "&#", '<p "', "<a>", " "];
  for (const piece of hostile) {
    const getThreadTime = startThreadTimer();
    convert(`<pre>${piece.repeat(500_000 / piece.length)}x`);
    // Quadratic work takes minutes; the bound allows for a busy machine.
    assert(getThreadTime() < 10_000, piece);
  }
});

Deno.test("htmlToText() does not throw on random pages", () => {
  const random = seededRandom(4);
  const pieces = [
    "<a href=x>",
    "</a>",
    "<pre>",
    "</pre>",
    "<li>",
    "&amp;",
    "<",
    ">",
    "'",
    '"',
    "x ",
    "<!--",
    "-->",
    "<h1>",
    "\n",
  ];
  for (let round = 0; round < 2_000; round++) {
    convert(
      Array.from({ length: 12 }, () => pieces[Math.floor(random() * pieces.length)]).join(""),
    );
  }
});

Deno.test("htmlToText(): a link ends the one before it, so that many open ones take linear time", () => {
  assertEquals(
    convert("<a href=x>one<a href=y>two</a>"),
    "[one](https://a.test/dir/x)[two](https://a.test/dir/y)",
  );
  const getElapsed = startThreadTimer();
  convert("<a href=x>".repeat(100_000) + "a" + "</a>".repeat(100_000));
  assert(getElapsed() < 5_000);
});
