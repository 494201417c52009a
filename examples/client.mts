/* A client of the interface in TypeScript: typed, with retries, and all pages of a list. It needs no package to run.

   The types are generated from the description of a service that runs, such as that of `make run`; `make linters` installs
   the two programs in the versions that the tests use:

     npx openapi-typescript http://127.0.0.1:8000/v1/openapi.json --output examples/fundamentals.d.mts
     npx tsc --strict --target es2022 --module nodenext --lib es2022,dom --outDir build examples/client.mts
     API_KEY=fds_live_... node build/client.mjs XQORC

   Node.js from 22.18 on also runs the file as it is: node examples/client.mts XQORC */

import type { components, paths } from "./fundamentals.d.mts";

declare const process: { argv: string[]; env: Record<string, string | undefined> };

export type Company = components["schemas"]["Company"];
export type FinancialPeriod = components["schemas"]["FinancialPeriod"];
type Asked<Path extends keyof paths> = NonNullable<paths[Path]["get"]["parameters"]["query"]>;
type Answer<Path extends keyof paths> = paths[Path]["get"]["responses"][200]["content"]["application/json"];
type ErrorBody = components["schemas"]["ErrorBody"];

const ADDRESS = process.env.FUNDAMENTALS_ADDRESS ?? "http://127.0.0.1:8000/v1";
const AGAIN = new Set([429, 500, 502, 503, 504]); // with any other error, the same request would fail again
const ATTEMPTS = 5;
const LONGEST = 90; // seconds to wait; a limit of the day that is used up is the caller's to wait for

/** An answer that is an error; the code is stable, the message is for people. */
export class Refused extends Error {
  constructor(readonly status: number, readonly body: ErrorBody) {
    super(`${body.error.code}: ${body.error.message}`);
  }
}

/** Ask for a path of the description; again if that can help, after the seconds of Retry-After, else after 1, 2, 4, 8. */
export async function ask<Path extends keyof paths>(
  path: Path, query: Asked<Path>, symbol = "",
): Promise<Answer<Path>> {
  const address = new URL(ADDRESS + path.replace("{symbol}", encodeURIComponent(symbol)));
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, String(value));
  const headers = { "X-Api-Key": process.env.API_KEY ?? "" };
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt === ATTEMPTS;
    let wait = 2 ** (attempt - 1);
    try {
      const response = await fetch(address, { headers });
      if (response.ok) return await response.json() as Answer<Path>;
      wait = Number(response.headers.get("Retry-After") ?? wait);
      if (isLast || wait > LONGEST || !AGAIN.has(response.status)) {
        throw new Refused(response.status, await response.json() as ErrorBody);
      }
    } catch (error) {
      if (isLast || error instanceof Refused) throw error;
    }
    await new Promise((done) => setTimeout(done, wait * 1000));
  }
}

/** All companies, page by page. */
export async function* companies(per_page = 100): AsyncGenerator<Company> {
  for (let page = 1, last = 1; page <= last; page++) {
    const found = await ask("/companies", { page, per_page });
    yield* found.data;
    last = found.meta.last_page;
  }
}

/** The fiscal years of a company, newest first; an item without a value is missing, which is not zero. */
export async function years(symbol: string): Promise<FinancialPeriod[]> {
  return (await ask("/companies/{symbol}/financials", { period: "annual", limit: 40 }, symbol)).data;
}

async function main(symbol: string): Promise<void> {
  let number = 0;
  for await (const _ of companies()) number += 1;
  console.log(number, "symbols");
  console.table((await years(symbol)).map(({ period, values }) => ({ period, ...values })));
}

const [symbol] = process.argv.slice(2);
if (symbol) await main(symbol);
