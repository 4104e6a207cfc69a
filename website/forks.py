"""Processes that begin with all libraries imported: three seconds saved for each notebook and each fault.

They are forked, where the system can, from one process that has imported what is named here and nothing of
this package; what they are told to run imports the package anew.
"""

import asyncio
import gc
import multiprocessing
import os
import signal
import sys

from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

LIBRARIES = """
    website numpy scipy.linalg scipy.optimize scipy.stats scipy.special scipy.integrate scipy.spatial
    scipy.sparse.linalg sklearn.svm sklearn.linear_model sklearn.model_selection sklearn.datasets
    sklearn.pipeline sklearn.preprocessing sklearn.kernel_ridge sklearn.gaussian_process
    sklearn.kernel_approximation pandas polars pyarrow.parquet matplotlib.pyplot mpl_toolkits.mplot3d
    tqdm.auto nbformat pytest hypothesis dask.array networkx ipykernel.kernelapp ipywidgets
    matplotlib_inline.config
"""
CAN_FORK = (
    sys.platform == "linux"
)  # elsewhere a BLAS may have threads of its own, which a fork loses
FORKS = multiprocessing.get_context("forkserver" if CAN_FORK else "spawn")
if CAN_FORK:
    FORKS.set_forkserver_preload(LIBRARIES.split())


class Forked:
    "A process of FORKS with the methods of subprocess.Popen that Jupyter's client asks for"

    stdin = stdout = stderr = None

    def __init__(self, target, *arguments):
        self.process = FORKS.Process(target=target, args=arguments)
        self.process.start()
        self.pid, self.kill, self.terminate = (
            self.process.pid,
            self.process.kill,
            self.process.terminate,
        )

    def poll(self):
        return self.process.exitcode

    def wait(self):
        self.process.join()
        return self.process.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)


def be_a_kernel(arguments, folder, environment, draws_once):
    "In the process: what `python -m ipykernel_launcher` does, in its folder and environment"
    from ipykernel.kernelapp import IPKernelApp
    from matplotlib import pyplot

    sys.modules["debugpy.server"] = None  # a third of a kernel's start, and nobody steps through it
    gc.freeze()  # no collection walks the libraries' objects again, nor copies their pages
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    installed = [p for p in sys.path if p.startswith((sys.prefix, sys.base_prefix))]
    sys.path[:] = [*filter(None, environment.get("PYTHONPATH", "").split(os.pathsep)), *installed]
    ends_with = f"--IPKernelApp.parent_handle={os.getppid()}"
    kernel = IPKernelApp.instance()
    kernel.initialize([*arguments, ends_with, "--matplotlib=inline"])
    if draws_once:
        pyplot.uninstall_repl_displayhook()
    kernel.start()


class ForkedKernel(LocalProvisioner):
    "Starts a kernel as a fork"

    draws_once = False

    async def launch_kernel(self, cmd, **options):
        arguments = cmd[cmd.index("ipykernel_launcher") + 1 :]
        self.process = await asyncio.to_thread(
            Forked, be_a_kernel, arguments, options["cwd"], dict(options["env"]), self.draws_once
        )
        self.pid = self.process.pid
        return self.connection_info


class ForkedKernels(KernelProvisionerFactory):
    "Every kernel of this process is a fork"

    def create_provisioner_instance(self, kernel_id, kernel_spec, parent):
        return ForkedKernel(kernel_id=kernel_id, kernel_spec=kernel_spec, parent=parent)


def fork_kernels(draw_once=False):
    """From now on Jupyter's client starts kernels as forks, where that can be

    draw_once : figures are drawn when they are shown, and not, as pyplot has it, also before that:
        half the time, and colour bars may lie a little differently
    """
    if CAN_FORK:
        ForkedKernel.draws_once = draw_once
        # the locks of a kernel that is killed are its own affair
        os.environ.setdefault(
            "PYTHONWARNINGS", "ignore::UserWarning:multiprocessing.resource_tracker"
        )
        ForkedKernels.instance()  # the client asks its base class for the one instance, and gets this
