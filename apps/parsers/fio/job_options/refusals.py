"""The options that a workload may not have, with the reason: set by Spindle itself, for administrators only, or never.

The same sentences and names are in `worker/agent/options/refusals.py`. A name that is neither here nor in the table of
options is refused too, as one that Spindle does not know.
"""

SET_BY_SPINDLE = "Spindle sets this itself"
ARMED_ONLY = "it changes the host or its devices, and only the host's administrator could allow that"
REASONS: tuple[tuple[str, str], ...] = (
    (f"{SET_BY_SPINDLE}: names and places of files are made on the host", """
        filename directory filename_format unique_filename filetype allow_file_create unlink unlink_each_loop name
        wait_for description"""),
    (f"{SET_BY_SPINDLE}: clocks, logs and the shape of the report are the same for all runs", """
        clocksource job_start_clock_id gtod_reduce write_bw_log write_lat_log write_iops_log write_hist_log log_offset
        log_prio log_issue_time per_job_logs log_compression log_compression_cpus log_store_compressed log_unix_epoch
        log_alternate_epoch log_alternate_epoch_clock_id block_error_percentiles unified_rw_reporting stats disk_util
        kb_base unit_base significant_figures percentile_list clat_percentiles lat_percentiles slat_percentiles
        disable_lat disable_clat disable_slat disable_bw disable_bw_measurement bwavgtime iopsavgtime"""),
    ("it shapes logs that fio writes itself, and Spindle has none written: values over time come from fio's report", """
        log_avg_msec log_hist_msec log_entries log_hist_coarseness log_max_value log_window_value"""),
    (f"{SET_BY_SPINDLE}: how fio's processes run is the host's matter", "comm verify_async_cpus verify_state_save"),
    (f"it discards data, and {ARMED_ONLY}", """
        trim_percentage trim_verify_zero trim_backlog trim_backlog_batch num_range"""),
    (f"it resets or finishes zones of a device, and {ARMED_ONLY}", """
        zonecapacity read_beyond_wp max_open_zones job_max_open_zones zone_reset_threshold zone_reset_frequency
        ignore_zone_limits recover_zbd_write_error write_zone_remainder write_zone_remainders"""),
    (f"it overwrites or places the data of a whole device, and {ARMED_ONLY}", """
        sprandom spr_num_regions spr_op spr_cs fdp dataplacement data_placement plid_select fdp_pli_select plids
        fdp_pli"""),
    (ARMED_ONLY, """
        ioscheduler prio prioclass priohint hugepage-size end_syncfs sqthread_poll sqthread_poll_cpu cmdprio_percentage
        cmdprio_class cmdprio_hint cmdprio cmdprio_bssplit"""),
    (f"it sends commands to a device past the filesystem, and {ARMED_ONLY}", """
        write_mode deac sg_write_mode stream_id verify_mode verify_bytchk read_mode readfua writefua cmd_type cdb_len
        md_per_io_size pi_act pi_chk apptag apptag_mask xnvme_be xnvme_mem xnvme_async xnvme_sync xnvme_admin
        xnvme_dev_nsid xnvme_dev_subnqn xnvme_iovec"""),
    ("it runs programs", "exec_prerun exec_postrun program arguments grace_time std_redirect"),
    ("it makes jobs that nobody has checked", """
        profile device-names load test-duration threads-per-queue read-req-num-512-blocks large-block-op-kbytes prep
        block numruns dir threads"""),
    ("it changes who fio runs as or what the kernel gives it", """
        uid gid cgroup cgroup_weight cgroup_nodelete lockmem gtod_cpu cpumask gpu_dev_id"""),
    ("it reads or writes files that are not the run's own", """
        include opendir dp_scheme write_iolog read_iolog read_iolog_chunked verify_dump verify_state_load"""),
    ("it replays a trace, whose lines name files and devices", """
        replay_redirect replay_no_stall replay_time_scale replay_align replay_scale replay_skip merge_blktrace_file
        merge_blktrace_scalars merge_blktrace_iters"""),
    ("it could write to a mounted filesystem or fill it up", "allow_mounted_write fill_device fill_fs"),
    ("it is obsolete or an experiment of fio", """
        experimental_verify verifysort verifysort_nr write_barrier rwmixcycle percentage_sequential flow_watermark"""),
    ("it is of an engine that goes over the network", """
        hostname port protocol proto listen nodelay pingpong interface ttl window_size mss bindname verb https http_host
        http_user http_pass http_s3_key http_s3_keyid http_s3_security_token http_swift_auth_token http_s3_region
        http_s3_sse_customer_key http_s3_sse_customer_algorithm http_s3_storage_class http_mode http_verbose
        http_object_mode uri nfs_url initiator clustername rbdname pool clientname conf busy_poll touch_objects
        rbd_encryption_format rbd_encryption_passphrase volume brick single-instance namenode hdfsdirectory chunk_size
        chunck_size single_instance hdfs_use_direct cont object_class svcl"""),
    ("it is of an engine that Spindle does not run", """
        libblkio_driver libblkio_path libblkio_pre_connect_props libblkio_num_entries libblkio_queue_size
        libblkio_pre_start_props libblkio_vectored libblkio_write_zeroes_on_trim libblkio_wait_mode
        libblkio_force_enable_completion_eventfd donorname inplace skip_bad gpu_dev_ids cuda_io rocm_io cpuload cpumode
        cpuchunks exit_on_io_done no_completion_thread dummy"""),
)  # fmt: skip
REFUSED = {name: reason for reason, names in REASONS for name in names.split()}
UNKNOWN = "there is no such option"


def explain_refusal(name: str) -> str:
    """Return why a workload may not have an option of this name."""
    return REFUSED.get(name, UNKNOWN)
