import { assertEquals, assertThrows } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { expandUriTemplate } from "./expand_uri_template.ts";

/** The examples of RFC 6570, section 1.2 and 3.2. */
const VALUES = {
  var: "value",
  hello: "Hello World!",
  path: "/foo/bar",
  x: "1024",
  y: "768",
  empty: "",
};

const CASES: Readonly<Record<string, string>> = {
  "{var}": "value",
  "{hello}": "Hello%20World%21",
  "{+var}": "value",
  "{+hello}": "Hello%20World!",
  "{+path}/here": "/foo/bar/here",
  "here?ref={+path}": "here?ref=/foo/bar",
  "X{#hello}": "X#Hello%20World!",
  "map?{x,y}": "map?1024,768",
  "{+x,hello,y}": "1024,Hello%20World!,768",
  "{#path,x}/here": "#/foo/bar,1024/here",
  "X{.x,y}": "X.1024.768",
  "{/var,x}/here": "/value/1024/here",
  "{;x,y,empty}": ";x=1024;y=768;empty",
  "{?x,y,empty}": "?x=1024&y=768&empty=",
  "?fixed=yes{&x}": "?fixed=yes&x=1024",
  "O{empty}X": "OX",
  "O{undef}X{?undef}": "OX",
  "{x,undef,y}": "1024,768",
  "{__proto__}{constructor}": "",
  "{path}": "%2Ffoo%2Fbar",
};

Deno.test("expandUriTemplate(): replaces variables as in the examples of RFC 6570", () => {
  for (const [template, expected] of Object.entries(CASES)) {
    assertEquals(expandUriTemplate(template, VALUES), expected, template);
  }
});

Deno.test("expandUriTemplate(): keeps what a reserved value has encoded already", () => {
  assertEquals(expandUriTemplate("{+path}", { path: "a%20b/50%/[c]" }), "a%20b/50%25/[c]");
  assertEquals(expandUriTemplate("{path}", { path: "a%20b\ud800" }), "a%2520b%EF%BF%BD");
});

Deno.test("expandUriTemplate(): rejects templates that are invalid or of level 4", () => {
  for (const template of ["a{", "a}", "{a", "{{a}}", "{}", "{a:3}", "{list*}", "{a b}", "{=a}"]) {
    assertThrows(() => expandUriTemplate(template, { a: "1" }), BadRequestError, "URI template");
  }
});

Deno.test("expandUriTemplate(): takes linear time", () => {
  const getThreadTime = startThreadTimer();
  assertThrows(() => expandUriTemplate("{".repeat(200_000), {}), BadRequestError);
  assertEquals(expandUriTemplate("{a}".repeat(50_000), { a: "1" }).length, 50_000);
  assertEquals(getThreadTime() < 2_000, true);
});
