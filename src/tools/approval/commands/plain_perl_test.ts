import {
  assertNotForbidden,
  testForbiddenCommands,
} from "../../../../tests/sandbox/explain_with_gate.ts";

Deno.test("approvalGate(): deny rules let pass programs of Perl that only change and print lines", async () => {
  await assertNotForbidden([
    "perl -pi -e 's/rm -rf/rimraf/g' package.json",
    "perl -i.bak -pe 's|rm a|b|; s#rm$#c#gi' a b/*.ts",
    "perl -0777 -i -pe 's/(rm) (\\w+)\\n/$2 $1/gs' \"$F\"",
    "perl -ne 'print if /rm -rf/' a",
    "perl -lne 'print unless /^rm .*$/i;' a",
  ]);
});

testForbiddenCommands([
  "perl -pe 's/a/system(\"rm b\")/e' c",
  "perl -pe 's/a/@{[system(\"rm b\")]}/' c",
  "perl -pe 's/a/${\\(system(\"rm b\"))}/' c",
  "perl -pe 's/(a)/$1[system(\"rm b\")]/' c",
  "perl -pe 's/(a)/$1->[system(\"rm b\")]/' c",
  "perl -pe 's/(a)/$&{system(\"rm b\")}/' c",
  "perl -pe 's/(?{system(\"rm b\")})//' c",
  "perl -pe 's/(??{system(\"rm b\")})//' c",
  "perl -pe 's/(*{system(\"rm b\")})//' c",
  "perl -ne 'print if /a/; system(\"rm b\")' c",
  "perl -ne 'print' 'rm b|'",
  "perl -ne 'print `rm b` if /a/' c",
  "perl -Mre=eval -pe 's/rm b/c/' a",
  "perl -pe 's/a/b/' -e 'system(\"rm b\")' c",
]);
