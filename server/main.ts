import { build } from './build.ts';
import { runProcess } from './process.ts';

await runProcess(build);
