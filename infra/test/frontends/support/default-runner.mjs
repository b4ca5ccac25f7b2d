// CopilotKit's runtime as its own documentation sets it up: with the runner that keeps threads in
// its memory.

import { createServer } from 'node:http';
import { HttpAgent } from '@ag-ui/client';
import { CopilotRuntime } from '@copilotkit/runtime/v2';
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node';

const agents = { demo: new HttpAgent({ url: `${process.env.RETHREAD_URL}/agui/demo` }) };
const runtime = new CopilotRuntime({ agents });
const listener = createCopilotNodeListener({ runtime, basePath: '/copilotkit', cors: true });
createServer(listener).listen(Number(process.env.PORT), '127.0.0.1');
