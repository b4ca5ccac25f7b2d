// The languages that can be highlighted, by their names after the fence. Each is loaded on demand.

import type { LanguageFn } from 'highlight.js';

export type Load = () => Promise<{ default: LanguageFn }>;

const LANGUAGES: readonly [names: string, load: Load][] = [
  ['bash sh zsh shell', () => import('highlight.js/lib/languages/bash')],
  ['console shellsession sh-session', () => import('highlight.js/lib/languages/shell')],
  ['c h', () => import('highlight.js/lib/languages/c')],
  ['clojure clj', () => import('highlight.js/lib/languages/clojure')],
  ['cmake', () => import('highlight.js/lib/languages/cmake')],
  ['cpp c++ cc cxx hpp', () => import('highlight.js/lib/languages/cpp')],
  ['csharp cs c#', () => import('highlight.js/lib/languages/csharp')],
  ['css', () => import('highlight.js/lib/languages/css')],
  ['dart', () => import('highlight.js/lib/languages/dart')],
  ['diff patch', () => import('highlight.js/lib/languages/diff')],
  ['dockerfile docker', () => import('highlight.js/lib/languages/dockerfile')],
  ['elixir ex exs', () => import('highlight.js/lib/languages/elixir')],
  ['erlang erl', () => import('highlight.js/lib/languages/erlang')],
  ['fsharp fs f#', () => import('highlight.js/lib/languages/fsharp')],
  ['go golang', () => import('highlight.js/lib/languages/go')],
  ['graphql gql', () => import('highlight.js/lib/languages/graphql')],
  ['groovy gradle', () => import('highlight.js/lib/languages/groovy')],
  ['haskell hs', () => import('highlight.js/lib/languages/haskell')],
  ['html xml svg xhtml', () => import('highlight.js/lib/languages/xml')],
  ['http', () => import('highlight.js/lib/languages/http')],
  ['ini toml conf properties', () => import('highlight.js/lib/languages/ini')],
  ['java', () => import('highlight.js/lib/languages/java')],
  ['javascript js jsx mjs cjs', () => import('highlight.js/lib/languages/javascript')],
  ['json json5 jsonc jsonl ndjson', () => import('highlight.js/lib/languages/json')],
  ['julia jl', () => import('highlight.js/lib/languages/julia')],
  ['kotlin kt kts', () => import('highlight.js/lib/languages/kotlin')],
  ['latex tex', () => import('highlight.js/lib/languages/latex')],
  ['less', () => import('highlight.js/lib/languages/less')],
  ['lua', () => import('highlight.js/lib/languages/lua')],
  ['makefile make mk', () => import('highlight.js/lib/languages/makefile')],
  ['markdown md', () => import('highlight.js/lib/languages/markdown')],
  ['matlab', () => import('highlight.js/lib/languages/matlab')],
  ['nginx', () => import('highlight.js/lib/languages/nginx')],
  ['nix', () => import('highlight.js/lib/languages/nix')],
  ['objectivec objc', () => import('highlight.js/lib/languages/objectivec')],
  ['ocaml ml', () => import('highlight.js/lib/languages/ocaml')],
  ['perl pl', () => import('highlight.js/lib/languages/perl')],
  ['php', () => import('highlight.js/lib/languages/php')],
  ['powershell ps1 pwsh', () => import('highlight.js/lib/languages/powershell')],
  ['protobuf proto', () => import('highlight.js/lib/languages/protobuf')],
  ['python py', () => import('highlight.js/lib/languages/python')],
  ['r', () => import('highlight.js/lib/languages/r')],
  ['ruby rb', () => import('highlight.js/lib/languages/ruby')],
  ['rust rs', () => import('highlight.js/lib/languages/rust')],
  ['scala', () => import('highlight.js/lib/languages/scala')],
  ['scss sass', () => import('highlight.js/lib/languages/scss')],
  ['sql postgres postgresql mysql sqlite', () => import('highlight.js/lib/languages/sql')],
  ['swift', () => import('highlight.js/lib/languages/swift')],
  ['typescript ts tsx mts cts', () => import('highlight.js/lib/languages/typescript')],
  ['vim viml', () => import('highlight.js/lib/languages/vim')],
  ['yaml yml', () => import('highlight.js/lib/languages/yaml')],
];

/** What loads a language; undefined if it is unknown. */
export function loaderOf(language: string): Load | undefined {
  const name = language.toLowerCase();
  return LANGUAGES.find(([names]) => names.split(' ').includes(name))?.[1];
}
