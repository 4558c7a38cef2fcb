//! Owns the default lists of globs: which paths are policy, records, fixtures, harness, tests and neutral.

/// Seedgate's own policy: read from the base, and changed only with a human merge.
pub(super) const POLICY: &[&str] = &[".seedgate/config.toml", ".seedgate/allowed_signers"];

/// Seedgate's own records and waivers.
pub(super) const RECORD: &[&str] = &[".seedgate/**", "docs/waivers/**"];

/// Bytes that tests load.
pub(super) const FIXTURE: &[&str] =
    &["**/fixtures/**", "**/__snapshots__/**", "**/testdata/**", "**/*.snap", "**/*.ambr", "**/proptest-regressions/**"];

/// Configuration of test runners. Files that also describe the product (`pyproject.toml`, `setup.cfg`, `package.json`,
/// `Cargo.toml`) are not here: they are production.
pub(super) const HARNESS: &[&str] = &[
    // Python
    "**/conftest.py",
    "**/pytest.ini",
    "**/.pytest.ini",
    "**/pytest.toml",
    "**/.pytest.toml",
    "**/tox.ini",
    "**/tox.toml",
    "**/noxfile.py",
    "**/nose.cfg",
    "**/.noserc",
    "**/nose2.cfg",
    "**/unittest.cfg",
    "**/behave.ini",
    "**/.coveragerc",
    // JavaScript and TypeScript
    "**/jest.config.*",
    "**/jest.preset.*",
    "**/jest.setup.*",
    "**/vitest.config.*",
    "**/vitest.setup.*",
    "**/vitest.workspace.*",
    "**/karma.conf.*",
    "**/.mocharc",
    "**/.mocharc.*",
    "**/ava.config.*",
    "**/jasmine.json",
    "**/cypress.json",
    "**/cypress.config.*",
    "**/playwright.config.*",
    "**/wdio.conf.*",
    "**/nightwatch.conf.*",
    "**/.testcaferc.*",
    "**/.detoxrc.*",
    "**/.nycrc",
    "**/.nycrc.*",
    "**/.c8rc",
    "**/.c8rc.*",
    "**/stryker.conf.*",
    "**/stryker.config.*",
    // Rust
    "**/.config/nextest.toml",
    "**/.config/insta.yaml",
    "**/.cargo/mutants.toml",
    "**/proptest.toml",
    "**/tarpaulin.toml",
    "**/.tarpaulin.toml",
    // others
    "**/.rspec",
    "**/.simplecov",
    "**/phpunit.xml",
    "**/phpunit.xml.dist",
    "**/phpunit.dist.xml",
    "**/codeception.yml",
    "**/behat.yml",
    "**/junit-platform.properties",
    "**/testng.xml",
    "**/*.runsettings",
    "**/dart_test.yaml",
    "**/.hspec",
];

/// Test code.
pub(super) const TEST: &[&str] = &[
    "**/test_*",
    "**/*_test.*",
    "**/tests/**",
    "**/test/**",
    "**/spec/**",
    "**/__tests__/**",
    "**/*.test.*",
    "**/*.spec.*",
    "**/*_spec.rb",
    "**/*Test.java",
    "src/test/**",
];

/// Never mixes with anything: prose, lock files, continuous integration (whose bytes the harness card reads).
pub(super) const NEUTRAL: &[&str] = &[
    "README*",
    "**/*.md",
    "docs/**",
    "LICENSE*",
    "CHANGELOG*",
    "**/.gitignore",
    "**/.gitattributes",
    // lock files
    "**/Cargo.lock",
    "**/package-lock.json",
    "**/npm-shrinkwrap.json",
    "**/yarn.lock",
    "**/pnpm-lock.yaml",
    "**/bun.lock",
    "**/bun.lockb",
    "**/deno.lock",
    "**/poetry.lock",
    "**/uv.lock",
    "**/pdm.lock",
    "**/pixi.lock",
    "**/Pipfile.lock",
    "**/pylock.toml",
    "**/pylock.*.toml",
    "**/requirements.lock",
    "**/requirements-*.lock",
    "**/conda-lock.yml",
    "**/Gemfile.lock",
    "**/composer.lock",
    "**/go.sum",
    "**/go.work.sum",
    "**/mix.lock",
    "**/rebar.lock",
    "**/pubspec.lock",
    "**/Podfile.lock",
    "**/Package.resolved",
    "**/Cartfile.resolved",
    "**/packages.lock.json",
    "**/paket.lock",
    "**/gradle.lockfile",
    "**/buildscript-gradle.lockfile",
    "**/stack.yaml.lock",
    "**/cabal.project.freeze",
    "**/flake.lock",
    "**/conan.lock",
    "**/renv.lock",
    "**/shard.lock",
    "**/nimble.lock",
    "**/luarocks.lock",
    "**/spago.lock",
    "**/buf.lock",
    "**/Chart.lock",
    "**/MODULE.bazel.lock",
    "**/.terraform.lock.hcl",
    "**/dub.selections.json",
    "**/cpanfile.snapshot",
    "**/*.opam.locked",
    // continuous integration
    ".github/**",
    ".gitlab-ci.yml",
    ".gitlab/**",
    ".circleci/**",
    ".travis.yml",
    ".ci/**",
    "azure-pipelines*.yml",
    ".azure-pipelines/**",
    "Jenkinsfile*",
    "appveyor.yml",
    ".appveyor.yml",
    ".cirrus.yml",
    ".drone.yml",
    ".woodpecker.yml",
    ".woodpecker/**",
    "bitbucket-pipelines.yml",
    ".buildkite/**",
    ".teamcity/**",
    ".semaphore/**",
    ".gitea/**",
    ".forgejo/**",
    ".builds/**",
    ".build.yml",
    "buildspec.yml",
    "cloudbuild.yaml",
    ".zuul.yaml",
    ".zuul.d/**",
    "codecov.yml",
    ".codecov.yml",
    ".pre-commit-config.yaml",
];

/// Paths in which every test function is a property.
pub(super) const PROPERTIES: &[&str] = &["tests/properties/**"];

/// So many quarantined rows block.
pub(super) const QUARANTINE: usize = 10;

/// Most days of a freeze.
pub(super) const FREEZE_DAYS: u32 = 30;
/// Paths that never leave the machine.
pub(super) const SECRETS: &[&str] = &[
    "**/.env",
    "**/.env.*",
    "**/.netrc",
    "**/.npmrc",
    "**/.pypirc",
    "**/.git-credentials",
    "**/.htpasswd",
    "**/.ssh/**",
    "**/.aws/**",
    "**/.gnupg/**",
    "**/.kube/**",
    "**/secrets/**",
    "**/secrets.*",
    "**/credentials",
    "**/credentials.*",
    "**/id_rsa*",
    "**/id_dsa*",
    "**/id_ecdsa*",
    "**/id_ed25519*",
    "**/*.pem",
    "**/*.key",
    "**/*.p12",
    "**/*.pfx",
    "**/*.jks",
    "**/*.keystore",
    "**/*.kdbx",
    "**/*.tfstate",
];

/// How long one job may take, in seconds.
pub(super) const DEADLINE: u64 = 600;
