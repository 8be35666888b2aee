import { assertEquals, assertThrows } from "@std/assert";
import { createAddressRule } from "./address_rules.ts";

const decide = (pattern: string, url: string) => {
  const rule = createAddressRule(pattern);
  return `${rule.covers(url) ? "allowed" : "asked"}, ${rule.concerns(url)}`;
};

Deno.test("rules for addresses: a host without a port allows the default one, and denies all", () => {
  for (
    const [url, expected] of [
      ["http://a.test/", "allowed, certain"],
      ["https://A.test:443/x", "allowed, certain"],
      ["https://a.test:8443/", "asked, certain"],
      ["https://a.test./", "asked, certain"],
      ["https://user@a.test:1/", "asked, certain"],
      ["https://b.a.test/", "asked, none"],
      ["https://a.test.b/", "asked, none"],
    ] as const
  ) assertEquals(decide("a.test", url), expected, url);
  assertEquals(decide("https://a.test:8443", "https://a.test:8443/x"), "allowed, certain");
  assertEquals(decide("a.test:443", "https://a.test/x"), "asked, certain");
  assertEquals(decide("a.test:443", "http://a.test/x"), "asked, none");
  assertEquals(decide("HTTPS://a.test.", "https://a.test/"), "allowed, certain");
});

Deno.test("rules for addresses: a path that a server may take for a denied one may be denied", () => {
  for (
    const [path, expected] of [
      ["/admin/x", "allowed, certain"],
      ["/./admin/x", "allowed, certain"],
      ["//admin/x", "asked, possible"],
      ["/%61dmin/x", "asked, possible"],
      ["/ADMIN/x", "asked, possible"],
      ["/api/..%2fadmin/x", "asked, possible"],
      ["/api/%252e%252e/admin/x", "asked, possible"],
      ["/admin", "asked, possible"],
      ["/admin;a/x", "asked, possible"],
      ["/%ff", "asked, possible"],
      ["/other/x", "asked, none"],
    ] as const
  ) assertEquals(decide("a.test/admin/**", `https://a.test${path}`), expected, path);
});

Deno.test("rules for addresses: a host is compared as addresses have it", () => {
  for (
    const [pattern, url] of [
      ["münchen.test", "https://xn--mnchen-3ya.test/"],
      ["xn--mnchen-3ya.test", "https://MÜNCHEN.test/"],
      ["*.münchen.test", "https://a.münchen.test/"],
      ["127.1", "http://127.0.0.1/"],
      ["0x7f000001", "http://127.0.0.1/"],
      ["[::1]", "http://[0:0:0:0:0:0:0:1]/"],
      ["domain:a.test", "https://a.test/"],
      ["a[bc].test", "https://ab.test/"],
      ["{a,b}.test/x/?", "https://b.test/x/1"],
    ] as const
  ) assertEquals(decide(pattern, url), "allowed, certain", `${pattern} ${url}`);
  assertEquals(decide("[::1]:8080", "http://[::1]:8080/"), "allowed, certain");
  assertEquals(decide("[::1]:8080", "http://[::1]:81/"), "asked, none");
  assertEquals(decide("127.0.0.1", "http://127.0.0.2/"), "asked, none");
});

Deno.test("rules for addresses: a path that a server may take for another one is not allowed", () => {
  for (const path of ["/api/..%2fadmin", "/api/%252e%252e/admin", "/api//admin", "/api/a;b"]) {
    assertEquals(createAddressRule("a.test/api/**").covers(`https://a.test${path}`), false, path);
  }
  assertEquals(createAddressRule("a.test/api/**").covers("https://a.test/api/b"), true);
});

Deno.test("rules for addresses: what is not an address is not allowed, and may be denied", () => {
  const rule = createAddressRule("a.test");
  for (const url of [undefined, 5, "", "a.test", "//a.test"]) {
    assertEquals([rule.covers(url), rule.concerns(url)], [false, "possible"]);
  }
  assertThrows(() => createAddressRule(`a.test/${"a".repeat(5_000)}`), RangeError);
});
